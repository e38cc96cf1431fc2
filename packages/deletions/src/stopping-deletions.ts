/**
 * Finds the deletion request that stopped a user's events. No table knows it: memory has the digests of suppressed
 * users and the requests without their users, so the requests that may be it are read from their topic, the likeliest
 * first.
 */
import { DIGEST_LENGTH } from "@posthaste/core/deletion/digest-set";
import { suppressionKey } from "@posthaste/core/deletion/suppression";
import { withDeadline } from "@posthaste/kafka/connection/deadline";
import { suppressionDigest } from "@posthaste/kafka/log/suppression-digest";
import type { SuppressedDigests } from "@posthaste/read-model/entry-texts";
import type { DeletionLine, DeletionStore } from "./deletion-store.ts";

/** How long the search may take, in ms; after that the verdict goes without the request. */
const PATIENCE_MS = 1000;
/** How many requests are read at a time: each may have 5,000 users. */
const AT_ONCE = 4;

/** A user of a source whose event was stopped. */
export interface StoppedUser {
  readonly sourceId: string;
  /** The digests (`userDigest`) of the users that the event is about: of an alias there are two. */
  readonly digests: readonly string[];
  /** When the event was stopped, ms since the epoch; null for one that is hidden, since its user is suppressed now. */
  readonly atMs: number | null;
}

/** The known facts of the request that stopped an event. */
export type StoppedBy =
  | {
      /** `ended`: the user's suppression ended since. */
      readonly state: "in_force" | "ended";
      readonly id: string;
      readonly requestedAtMs: number;
    }
  /** `gone`: none that is on record names the user. `not_known`: nobody knows any more whose event it was. */
  | { readonly state: "gone" | "not_known" | "not_looked_up" };

export interface StoppingDeletionsOptions {
  readonly store: Pick<DeletionStore, "values" | "read">;
  readonly suppressed: SuppressedDigests;
  /** How long the search may take, in ms; for tests. */
  readonly patienceMs?: number;
}

/** The digest of a user's key, as entries of the read model have it. `userKey`: the user id, else the anonymous id. */
export function userDigest(sourceId: string, userKey: string): string {
  return suppressionDigest(suppressionKey(sourceId, userKey)).slice(0, DIGEST_LENGTH);
}

export class StoppingDeletions {
  readonly #options: StoppingDeletionsOptions;

  constructor(options: StoppingDeletionsOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async find(user: StoppedUser): Promise<StoppedBy> {
    if (user.digests.length === 0) return { state: "not_known" };
    const { patienceMs = PATIENCE_MS } = this.#options;
    const enough = new AbortController();
    try {
      return await withDeadline(this.#search(user, enough.signal), patienceMs, "finding a deletion request");
    } catch {
      return { state: "not_looked_up" };
    } finally {
      enough.abort();
    }
  }

  async #search(user: StoppedUser, signal: AbortSignal): Promise<StoppedBy> {
    const { store, suppressed } = this.#options;
    const likely = likeliestFirst([...store.values()], user);
    for (let from = 0; from < likely.length && !signal.aborted; from += AT_ONCE) {
      const whole = await Promise.all(likely.slice(from, from + AT_ONCE).map(({ id }) => store.read(id)));
      const found = whole.find(({ userIds }) =>
        userIds.some((userId) => user.digests.includes(userDigest(user.sourceId, userId))),
      );
      if (found === undefined) continue;
      const isInForce = suppressed.size > 0 && user.digests.some((digest) => suppressed.hasDigest(digest));
      return { state: isInForce ? "in_force" : "ended", id: found.id, requestedAtMs: found.createdAtMs };
    }
    return { state: "gone" };
  }
}

/**
 * The requests that suppress users of the source: those from before the event was stopped, the newest first, and then
 * the others, the oldest first, since two processes' clocks may differ.
 */
function likeliestFirst(lines: readonly DeletionLine[], { sourceId, atMs }: StoppedUser): readonly DeletionLine[] {
  const asked = lines
    .filter(({ suppress, sourceIds }) => suppress && sourceIds.includes(sourceId))
    .sort((a, b) => b.createdAtMs - a.createdAtMs);
  if (atMs === null) return asked;
  const before = asked.filter(({ createdAtMs }) => createdAtMs <= atMs);
  return [...before, ...asked.filter(({ createdAtMs }) => createdAtMs > atMs).reverse()];
}
