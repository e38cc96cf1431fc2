/** JSON told apart by the kind of each part; nothing is lost, and a text that is no JSON is one plain text. */

export type TokenKind = "plain" | "name" | "text" | "number" | "word";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

/** A string, with the colon behind it where it names a field; a number; true, false, null. */
const TOKEN = /("(?:\\.|[^"\\])*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|(true|false|null)/g;

/** `most`: the text behind the first so many tokens is one plain text. */
export function jsonTokens(text: string, most = Number.POSITIVE_INFINITY): readonly Token[] {
  const tokens: Token[] = [];
  let [end, reported] = [0, 0];
  const put = (kind: TokenKind, part: string | undefined): void => {
    if (part !== undefined && part !== "") tokens.push({ kind, text: part });
  };
  for (const match of text.matchAll(TOKEN)) {
    if (reported === most) break;
    reported += 1;
    const [whole, string, colon, number, word] = match;
    put("plain", text.slice(end, match.index));
    put(colon === undefined ? "text" : "name", string);
    put("plain", colon);
    put("number", number);
    put("word", word);
    end = match.index + whole.length;
  }
  put("plain", text.slice(end));
  return tokens;
}
