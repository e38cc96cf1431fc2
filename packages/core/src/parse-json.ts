/**
 * `JSON.parse`, but for a fault of V8 13.6 that it goes round.
 *
 * That parser compares a key that is written with an escape, before the escape is resolved, with the key that it expects from an
 * object of the same shape, and takes that one when the letters agree: after `{"a":0,"\\":0}` the key of `{"a":0,"\n":0}` comes
 * out as a backslash (docs/decisions/2026-11-21-keys-with-a-backslash.md). A text with such a key, which is rare, is put together
 * here instead, token by token; strings and numbers alone are read right.
 */

/** From within a string to its end, and to the colon after it where it is a key: no other string stands before one. */
const STRING_END = /[^"\\]*(?:\\[\s\S][^"\\]*)*"(?:[ \t\r\n]*:)?/y;
/** The next token of a text that is known to be JSON, white space, commas and colons before it left out. */
const TOKEN = /[ \t\r\n,:]*([{}[\]]|"[^"\\]*(?:\\[\s\S][^"\\]*)*"|[^ \t\r\n,:{}[\]"]+)/y;
/** Deeper than anything that is taken, and far from the end of the stack. */
const DEEPEST = 1000;

/** What `JSON.parse` should answer; throws its SyntaxError. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!text.includes("\\") || !hasEscapedKey(text)) return value;
  return new Assembler(text).value(0) ?? value;
}

/** Of a text that is JSON. Looks only at strings with an escape: most texts that have one have it in a value. */
function hasEscapedKey(text: string): boolean {
  for (let at = text.indexOf("\\"); at !== -1; at = text.indexOf("\\", STRING_END.lastIndex)) {
    STRING_END.lastIndex = at;
    if (!STRING_END.test(text)) return false;
    if (text[STRING_END.lastIndex - 1] === ":") return true;
  }
  return false;
}

/** Puts the value of a text together that `JSON.parse` has accepted. */
class Assembler {
  readonly #text: string;
  #at = 0;
  #token: string;

  constructor(text: string) {
    this.#text = text;
    this.#token = this.#next();
  }

  /** The value that begins at the present token, which is left behind. Undefined when something nests deeper than `DEEPEST`. */
  value(depth: number): unknown {
    if (depth > DEEPEST) return undefined;
    if (this.#token === "{") return this.#object(depth);
    if (this.#token === "[") return this.#array(depth);
    const value: unknown = JSON.parse(this.#token);
    this.#token = this.#next();
    return value;
  }

  #object(depth: number): unknown {
    const object = {};
    this.#token = this.#next();
    while (this.#token !== "}") {
      const key: string = JSON.parse(this.#token);
      this.#token = this.#next();
      const value = this.value(depth + 1);
      if (value === undefined) return undefined;
      // Not by assignment: `__proto__` is a key like any other.
      Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
    }
    this.#token = this.#next();
    return object;
  }

  #array(depth: number): unknown {
    const array: unknown[] = [];
    this.#token = this.#next();
    while (this.#token !== "]") {
      const value = this.value(depth + 1);
      if (value === undefined) return undefined;
      array.push(value);
    }
    this.#token = this.#next();
    return array;
  }

  /** The empty text at the end. */
  #next(): string {
    TOKEN.lastIndex = this.#at;
    const token = TOKEN.exec(this.#text)?.[1] ?? "";
    this.#at = TOKEN.lastIndex;
    return token;
  }
}
