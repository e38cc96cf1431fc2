/** The text typed to ask for a deletion, held to the limits of one request before it is sent. */
import type { DeletionInput, Destination, Source } from "../../api/api-types.ts";
import { countOf } from "../../moment/numbers.ts";

export const MOST_USERS = 5000;
/** As control takes them in one request. */
const MOST = { characters: 8192, bytes: 800_000, usersBySources: 50_000 };

export interface DeletionDraft {
  /** A user id a line. */
  readonly text: string;
  /** Null for all sources that are on. */
  readonly sourceIds: readonly string[] | null;
  readonly suppress: boolean;
}

export interface TypedUsers {
  /** Each once, in the order of the lines. */
  readonly userIds: readonly string[];
  /** Lines that name a user once more. */
  readonly repeats: number;
  /** The fault, and its line; null when all can be sent. */
  readonly error: string | null;
}

/** Empty lines name nobody. */
export function usersOf(text: string): TypedUsers {
  const lines = text.split(/\r?\n/).map((userId, at) => ({ userId, line: countOf(at + 1) }));
  const named = lines.filter(({ userId }) => userId.trim() !== "");
  const firstLines = new Map<string, string>();
  for (const { userId, line } of named) if (!firstLines.has(userId)) firstLines.set(userId, line);
  const userIds = [...firstLines.keys()];
  return { userIds, repeats: named.length - userIds.length, error: faultOf(firstLines) };
}

function faultOf(firstLines: ReadonlyMap<string, string>): string | null {
  const entries = [...firstLines];
  for (const [userId, line] of entries) {
    if (userId !== userId.trim()) return `Line ${line} begins or ends with a space: take it away.`;
    if (userId.length > MOST.characters) {
      return `Line ${line} is too long for a user id: ${countOf(MOST.characters)} characters at the most.`;
    }
  }
  const [, beyond] = entries[MOST_USERS] ?? [];
  if (beyond !== undefined) {
    const count = `${countOf(entries.length)} users are named, ${countOf(MOST_USERS)} at the most in one request`;
    return `${count}: from line ${beyond} on they need another.`;
  }
  const bytes = new TextEncoder().encode(entries.map(([userId]) => userId).join("")).length;
  if (bytes <= MOST.bytes) return null;
  return `The user ids take ${countOf(bytes)} bytes, ${countOf(MOST.bytes)} at the most in one request.`;
}

/** The sources that the request is of. */
export function concernedBy({ sourceIds }: DeletionDraft, sources: readonly Source[]): readonly string[] {
  return sourceIds ?? sources.filter(({ enabled }) => enabled).map(({ id }) => id);
}

/** Why so many users of so many sources cannot be asked for at once; null when they can. */
export function tooManyOf(users: number, sources: number): string | null {
  if (users * sources <= MOST.usersBySources) return null;
  const product = `${countOf(users)} users of ${countOf(sources)} sources`;
  return `${product} are too many for one request: users times sources are ${countOf(MOST.usersBySources)} at the most`;
}

/** How many destinations are told of each user; one counts for each of its sources. */
export function receiversOf(
  sourceIds: readonly string[],
  destinations: readonly Pick<Destination, "enabled" | "sourceIds">[],
): number {
  const enabled = destinations.filter((destination) => destination.enabled);
  return enabled.reduce((sum, each) => sum + sourceIds.filter((id) => each.sourceIds.includes(id)).length, 0);
}

/** `id`: the same request under the same id is carried out once. */
export function inputOf({ text, sourceIds, suppress }: DeletionDraft, id: string): DeletionInput {
  return { id, userIds: usersOf(text).userIds, suppress, ...(sourceIds === null ? {} : { sourceIds }) };
}
