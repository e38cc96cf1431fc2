/**
 * A log line's fields as they may be written: a copy, in which what may hold a secret is masked at any depth.
 *
 * RD1  What stands under the name of a secret is masked whole; texts everywhere by their form (redact-text.ts).
 * RD2  Errors are written with message, stack, fields, causes and the errors of an AggregateError, wherever they stand.
 * RD3  The copy is bounded in depth, entries and characters, so that a line costs what a line may cost, whatever is
 *      logged.
 * RD4  Nothing that is logged can make logging throw: circles, getters and proxies that throw are named in their
 *      value's place.
 */
import { types } from "node:util";
import { MASK, redactText } from "./redact-text.ts";

const MAX_DEPTH = 10;
/** Fields and items of one line. */
const MAX_ENTRIES = 500;
/** Characters of all texts of one line. */
const MAX_CHARACTERS = 65_536;

/** Names of secrets by what stands in them: `sharedSecret`, `SASL_PASSWORD`, `set-cookie`. */
const SECRET_PART =
  /passw(or)?d|passphrase|secret|token|authorization|cookie|credential|signature|(api|access|private|write)[_-]?key/i;
/** Names of secrets as they are; headers and bodies are customers' data. */
const SECRET_NAMES = new Set(["auth", "body", "headers", "rawheaders", "key", "keys", "pass", "pwd"]);

/** What is left of a line's bounds, and where in it the value at hand stands. */
interface Room {
  entries: number;
  characters: number;
  readonly around: Set<object>;
}

/** A copy of `fields` that JSON can say, without what may be a secret. Never throws. */
export function redact(fields: object): Record<string, unknown> {
  const room: Room = { entries: MAX_ENTRIES, characters: MAX_CHARACTERS, around: new Set() };
  const copy = copyObject(fields, room, 0);
  return typeof copy === "object" && copy !== null ? { ...copy } : { fields: copy };
}

function copyValue(value: unknown, room: Room, depth: number): unknown {
  switch (typeof value) {
    case "string":
      return copyText(value, room);
    case "bigint":
      return String(value);
    case "object":
      return value === null ? null : copyObject(value, room, depth);
    case "function":
    case "symbol":
      return undefined;
    default:
      return value;
  }
}

function copyText(text: string, room: Room): string {
  if (room.characters <= 0) return "[no room]";
  const redacted = redactText(text);
  room.characters -= redacted.length;
  return redacted;
}

function copyObject(value: object, room: Room, depth: number): unknown {
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (depth > MAX_DEPTH) return "[too deep]";
  if (room.around.has(value)) return "[circular]";
  room.around.add(value);
  try {
    if (types.isNativeError(value) || value instanceof Error) return copyError(value, room, depth);
    if ("toJSON" in value && typeof value.toJSON === "function") return copyValue(value.toJSON(), room, depth + 1);
    if (Array.isArray(value)) return copyItems(value, room, depth);
    return copyFields(Object.keys(value), (name) => Reflect.get(value, name), { room, depth });
  } catch {
    return "[unreadable]";
  } finally {
    room.around.delete(value);
  }
}

/** What an error has without showing it, under pino's names; its own fields are those that it shows. */
const ERROR_FIELDS: readonly string[] = ["type", "message", "stack", "cause", "aggregateErrors"];

function copyError(error: Error, room: Room, depth: number): object {
  const own = Object.keys(error).filter((name) => name !== "errors" && !ERROR_FIELDS.includes(name));
  const fieldOf = (name: string): unknown => {
    if (name === "type") return error.constructor.name;
    return Reflect.get(error, name === "aggregateErrors" ? "errors" : name);
  };
  return copyFields([...ERROR_FIELDS, ...own], fieldOf, { room, depth });
}

function copyItems(items: readonly unknown[], room: Room, depth: number): readonly unknown[] {
  const copy: unknown[] = [];
  for (const item of items) {
    if (room.entries <= 0) return [...copy, `[${items.length - copy.length} more]`];
    room.entries -= 1;
    copy.push(copyValue(item, room, depth + 1) ?? null);
  }
  return copy;
}

interface Place {
  readonly room: Room;
  readonly depth: number;
}

function copyFields(names: readonly string[], fieldOf: (name: string) => unknown, { room, depth }: Place): object {
  const copy: Record<string, unknown> = {};
  for (const [index, name] of names.entries()) {
    if (room.entries <= 0) {
      copy["…"] = `[${names.length - index} more]`;
      break;
    }
    room.entries -= 1;
    copy[name] = copyField(name, fieldOf, { room, depth });
  }
  return copy;
}

function copyField(name: string, fieldOf: (name: string) => unknown, { room, depth }: Place): unknown {
  try {
    const value = fieldOf(name);
    const isPlain = value === null || value === undefined || typeof value === "boolean";
    return isPlain || !isSecretName(name) ? copyValue(value, room, depth + 1) : MASK;
  } catch {
    return "[unreadable]";
  }
}

/** The names that are logged are few. */
const judged = new Map<string, boolean>();
const MAX_JUDGED = 1_000;

function isSecretName(name: string): boolean {
  const known = judged.get(name);
  if (known !== undefined) return known;
  const isSecret = SECRET_NAMES.has(name.toLowerCase()) || SECRET_PART.test(name);
  if (judged.size < MAX_JUDGED) judged.set(name, isSecret);
  return isSecret;
}
