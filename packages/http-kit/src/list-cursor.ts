/**
 * Cursors of lists. A caller has each with the name of its operation in front of the list's own cursor, so that no
 * other list takes it for one of its own and shows a page of something else.
 */
import { invalidInput, type Problem } from "./problem.ts";

/** Returns the query with the list's own cursor. Throws a Problem for a cursor that the operation did not answer. */
export function withOwnCursor<Query extends object>(operation: string, query: Query): Query {
  if (!("cursor" in query) || typeof query.cursor !== "string") return query;
  const name = `${operation}.`;
  if (!query.cursor.startsWith(name)) throw refusedCursor();
  return { ...query, cursor: query.cursor.slice(name.length) };
}

/** Returns the operation's answer with the cursor as its caller has it. */
export function withNamedCursor(operation: string, body: unknown): unknown {
  if (typeof body !== "object" || body === null || !("nextCursor" in body)) return body;
  const { nextCursor } = body;
  return typeof nextCursor === "string" ? { ...body, nextCursor: `${operation}.${nextCursor}` } : body;
}

/** For a cursor that the list did not answer. */
export function refusedCursor(): Problem {
  const message =
    "expected the nextCursor of this list's page before; without a cursor the list begins at its first page";
  return invalidInput([{ path: "cursor", message }]);
}

/** Packs the place at which a page ends into a cursor: parts divided by colons. */
export function packCursor(...parts: readonly (string | number)[]): string {
  return Buffer.from(parts.join(":")).toString("base64url");
}

/** Returns the groups of `shape`, which matches a whole unpacked cursor. Throws a Problem for any other text. */
export function unpackCursor<Parts extends readonly string[]>(cursor: string, shape: RegExp): Parts {
  const match = shape.exec(Buffer.from(cursor, "base64url").toString());
  if (match === null) throw refusedCursor();
  return match.slice(1) as readonly string[] as Parts;
}
