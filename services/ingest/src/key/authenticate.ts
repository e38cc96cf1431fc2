/** Who sends: from the request's write key to its source. */

import type { Source } from "@posthaste/core/config/source";
import { isPosthasteError } from "@posthaste/core/errors";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import { singleFlight } from "@posthaste/kafka/connection/single-flight";
import { type Refusal, unauthorized, unavailable } from "../answer/answer.ts";
import { MAX_WAITING_FOR_SOURCES, REFRESH_TIMEOUT_MS } from "../limits.ts";
import { createRefusedKeys, type RefusedKeys } from "./refused-keys.ts";
import { MAX_KEY_LENGTH, type WriteKeys } from "./write-keys.ts";

export interface AuthenticatorParts {
  readonly writeKeys: WriteKeys;
  /** Reads the table of sources to its present end; rejects when that takes longer than `timeoutMs`. */
  readonly refresh: (timeoutMs: number) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

export type Authentication = { readonly source: Source } | Unauthenticated;

export interface Unauthenticated {
  readonly refusal: Refusal;
  /** Whose the key is, where that is a source that is switched off. */
  readonly disabled?: Source;
  /** The first of the keys, where no source has any of them. */
  readonly unknownKey?: string;
}

export interface Authenticator {
  /**
   * The source of the first of the keys that is known, at once; when none is, what was configured a moment ago is read
   * before it refuses. So many may wait for that and no more: `MAX_WAITING_FOR_SOURCES`.
   */
  authenticate(writeKeys: readonly string[]): Authentication | Promise<Authentication>;
  /** The same of one key and without waiting. */
  known(writeKey: string | null): Authentication;
  /** The same of the first of some that is known. */
  knownOf(writeKeys: readonly string[]): Authentication;
}

const MISSING: Authentication = {
  refusal: unauthorized(
    "missing_write_key",
    `Send the source's write key as the user name of Basic authentication, or as "writeKey" in the body.`,
  ),
};
const UNKNOWN = unauthorized(
  "unknown_write_key",
  "No source has this write key; take the key from the source's settings.",
);
const DISABLED = unauthorized(
  "source_disabled",
  "The source with this write key is switched off; switch it on to send.",
);
const UNREADABLE: Authentication = {
  refusal: unavailable("unavailable", "The table of sources cannot be read at the moment; send again."),
};

const CROWDED: Authentication = {
  refusal: unavailable("unavailable", "Too many calls with keys that are not known arrive at the moment; send again."),
};

export function createAuthenticator(parts: AuthenticatorParts): Authenticator {
  return new TableAuthenticator(parts);
}

class TableAuthenticator implements Authenticator {
  readonly #parts: AuthenticatorParts;
  readonly #refreshOnce: () => Promise<void>;
  readonly #refused: RefusedKeys<Authentication>;
  /** How many requests wait for the table of sources. */
  #waiting = 0;

  constructor(parts: AuthenticatorParts) {
    this.#parts = parts;
    // However many unknown keys arrive, the table is read to its end once at a time, and after each key was written.
    this.#refreshOnce = singleFlight(() => parts.refresh(REFRESH_TIMEOUT_MS));
    this.#refused = createRefusedKeys<Authentication>(parts.clock.monotonicMs);
  }

  authenticate(all: readonly string[]): Authentication | Promise<Authentication> {
    const keys = all.filter((key) => key !== "");
    if (keys.length === 0) return MISSING;
    const found = this.#anyKnown(keys);
    if (found !== undefined) return found;
    const possible = keys.filter((key) => key.length <= MAX_KEY_LENGTH);
    if (possible.length === 0) return unknownOf(keys);
    const remembered = this.#remembered(possible);
    if (remembered !== undefined) return remembered;
    if (this.#waiting >= MAX_WAITING_FOR_SOURCES) return CROWDED;
    this.#waiting++;
    return this.#afterRefresh(possible).finally(() => {
      this.#waiting--;
    });
  }

  known(key: string | null): Authentication {
    return key === null || key === "" ? MISSING : this.knownOf([key]);
  }

  knownOf(keys: readonly string[]): Authentication {
    return keys.length === 0 ? MISSING : (this.#anyKnown(keys) ?? this.#refusalOf(keys));
  }

  /** The source of the first key that is known and enabled; undefined where a fresher table may know better. */
  #anyKnown(keys: readonly string[]): Authentication | undefined {
    const { writeKeys, clock } = this.#parts;
    for (const key of keys) {
      const source = writeKeys.find(key, clock.nowMs());
      if (source?.enabled) return { source };
    }
    return undefined;
  }

  /** The refusal of keys of which none is known and enabled. */
  #refusalOf(keys: readonly string[]): Authentication {
    const { writeKeys, clock } = this.#parts;
    const [disabled] = keys.flatMap((key) => writeKeys.find(key, clock.nowMs()) ?? []);
    return disabled === undefined ? unknownOf(keys) : { refusal: DISABLED, disabled };
  }

  /** What the first key was refused with, when each of them was refused again and again a moment ago. */
  #remembered(keys: readonly string[]): Authentication | undefined {
    const last = keys.map((key) => this.#refused.find(key, this.#parts.writeKeys.version));
    return last.includes(undefined) ? undefined : last[0];
  }

  async #afterRefresh(keys: readonly string[]): Promise<Authentication> {
    try {
      await this.#refreshOnce();
    } catch (error) {
      if (!isPosthasteError(error)) throw error;
      this.#parts.log.warn({ event: "sources_not_refreshed", err: error });
      // Some clients throw their calls away on 401, so that is not said for want of an answer from the brokers.
      return this.#anyKnown(keys) ?? UNREADABLE;
    }
    const found = this.#anyKnown(keys);
    if (found !== undefined) return found;
    const refusal = this.#refusalOf(keys);
    for (const key of keys) this.#refused.note(key, refusal, this.#parts.writeKeys.version);
    return refusal;
  }
}

function unknownOf([unknownKey = ""]: readonly string[]): Authentication {
  return { refusal: UNKNOWN, unknownKey };
}
