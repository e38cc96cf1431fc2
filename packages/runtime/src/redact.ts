/**
 * Copies the fields of a log line, with every value masked that may hold a secret, at any depth.
 *
 * RD1  A value under the name of a secret is masked whole. Texts are masked everywhere by their form (redact-text.ts).
 * RD2  Errors are copied with message, stack, fields, causes and the errors of an AggregateError, wherever they stand.
 * RD3  The copy is bounded in depth, entries and characters, so that the cost of a line is bounded, whatever a caller
 *      logs.
 * RD4  No value can make logging throw: circles, and getters and proxies that throw, are named in their value's place.
 */
import { types } from "node:util";
import { MASK, redactText } from "./redact-text.ts";

const MAX_DEPTH = 10;
/** The most fields and items of a line. */
const MAX_ENTRIES = 500;
/** The most characters of all texts of a line. */
const MAX_CHARACTERS = 65_536;

/** Matches names of secrets by a part of the name: `sharedSecret`, `SASL_PASSWORD`, `set-cookie`. */
const SECRET_PART =
  /passw(or)?d|passphrase|secret|token|authorization|cookie|credential|signature|(api|access|private|write)[_-]?key/i;
/** Whole names of secrets; headers and bodies are among them, since they are customers' data. */
const SECRET_NAMES = new Set(["auth", "body", "headers", "rawheaders", "key", "keys", "pass", "pwd"]);

/** The rest of a line's bounds, and the objects that contain the current value. */
interface Bounds {
  entries: number;
  characters: number;
  readonly ancestors: Set<object>;
}

/** Returns a copy of `fields` for JSON, in which every value that may be a secret is masked. Never throws. */
export function redact(fields: object): Record<string, unknown> {
  const bounds: Bounds = { entries: MAX_ENTRIES, characters: MAX_CHARACTERS, ancestors: new Set() };
  const copy = copyObject(fields, bounds, 0);
  return typeof copy === "object" && copy !== null ? { ...copy } : { fields: copy };
}

function copyValue(value: unknown, bounds: Bounds, depth: number): unknown {
  switch (typeof value) {
    case "string":
      return copyText(value, bounds);
    case "bigint":
      return String(value);
    case "object":
      return value === null ? null : copyObject(value, bounds, depth);
    case "function":
    case "symbol":
      return undefined;
    default:
      return value;
  }
}

function copyText(text: string, bounds: Bounds): string {
  if (bounds.characters <= 0) return "[too long]";
  const redacted = redactText(text);
  bounds.characters -= redacted.length;
  return redacted;
}

function copyObject(value: object, bounds: Bounds, depth: number): unknown {
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (depth > MAX_DEPTH) return "[too deep]";
  if (bounds.ancestors.has(value)) return "[circular]";
  bounds.ancestors.add(value);
  try {
    if (types.isNativeError(value) || value instanceof Error) return copyError(value, bounds, depth);
    if ("toJSON" in value && typeof value.toJSON === "function") return copyValue(value.toJSON(), bounds, depth + 1);
    if (Array.isArray(value)) return copyItems(value, bounds, depth);
    return copyFields(Object.keys(value), (name) => Reflect.get(value, name), { bounds, depth });
  } catch {
    return "[unreadable]";
  } finally {
    bounds.ancestors.delete(value);
  }
}

/** The names, by pino, of the parts of an error that are copied beside its own enumerable fields. */
const ERROR_FIELDS: readonly string[] = ["type", "message", "stack", "cause", "aggregateErrors"];

function copyError(error: Error, bounds: Bounds, depth: number): object {
  const own = Object.keys(error).filter((name) => name !== "errors" && !ERROR_FIELDS.includes(name));
  const fieldOf = (name: string): unknown => {
    if (name === "type") return error.constructor.name;
    return Reflect.get(error, name === "aggregateErrors" ? "errors" : name);
  };
  return copyFields([...ERROR_FIELDS, ...own], fieldOf, { bounds, depth });
}

function copyItems(items: readonly unknown[], bounds: Bounds, depth: number): readonly unknown[] {
  const copy: unknown[] = [];
  for (const item of items) {
    if (bounds.entries <= 0) return [...copy, `[${items.length - copy.length} more]`];
    bounds.entries -= 1;
    copy.push(copyValue(item, bounds, depth + 1) ?? null);
  }
  return copy;
}

interface Place {
  readonly bounds: Bounds;
  readonly depth: number;
}

function copyFields(names: readonly string[], fieldOf: (name: string) => unknown, { bounds, depth }: Place): object {
  const copy: [string, unknown][] = [];
  for (const [index, name] of names.entries()) {
    if (bounds.entries <= 0) {
      copy.push(["…", `[${names.length - index} more]`]);
      break;
    }
    bounds.entries -= 1;
    copy.push([name, copyField(name, fieldOf, { bounds, depth })]);
  }
  // An assignment would lose a field of the name `__proto__`.
  return Object.fromEntries(copy);
}

function copyField(name: string, fieldOf: (name: string) => unknown, { bounds, depth }: Place): unknown {
  try {
    const value = fieldOf(name);
    const isPlain = value === null || value === undefined || typeof value === "boolean";
    return isPlain || !isSecretName(name) ? copyValue(value, bounds, depth + 1) : MASK;
  } catch {
    return "[unreadable]";
  }
}

/** For each name that was logged, whether it names a secret. Few different names are ever logged. */
const judged = new Map<string, boolean>();
const MAX_JUDGED = 1_000;

function isSecretName(name: string): boolean {
  const known = judged.get(name);
  if (known !== undefined) return known;
  const isSecret = SECRET_NAMES.has(name.toLowerCase()) || SECRET_PART.test(name);
  if (judged.size < MAX_JUDGED) judged.set(name, isSecret);
  return isSecret;
}
