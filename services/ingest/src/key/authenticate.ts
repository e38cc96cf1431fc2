/** Authentication: from a request's write key to its source. */

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
  /** Reads the table of sources to its end of this moment; rejects when that takes longer than `timeoutMs`. */
  readonly refresh: (timeoutMs: number) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

export type Authentication = { readonly source: Source } | Unauthenticated;

export interface Unauthenticated {
  readonly refusal: Refusal;
  /** The source of the key, where it is switched off. */
  readonly disabled?: Source;
  /** The first key, where no source has any of the keys. */
  readonly unknownKey?: string;
}

export interface Authenticator {
  /**
   * The source of the first key that is known, at once. When none is, the table of sources is read to its end before
   * the request is refused, since a source may be a moment old. At most `MAX_WAITING_FOR_SOURCES` requests wait for
   * that.
   */
  authenticate(writeKeys: readonly string[]): Authentication | Promise<Authentication>;
  /** Authenticates one key by the table's present content. */
  known(writeKey: string | null): Authentication;
  /** Authenticates the first key that the table knows now. */
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
    // However many unknown keys arrive, one read of the table is out at a time, and a key is refused only after a read
    // that began after the key came.
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

  /** The refusal of keys none of which is known and enabled. */
  #refusalOf(keys: readonly string[]): Authentication {
    const { writeKeys, clock } = this.#parts;
    const [disabled] = keys.flatMap((key) => writeKeys.find(key, clock.nowMs()) ?? []);
    return disabled === undefined ? unknownOf(keys) : { refusal: DISABLED, disabled };
  }

  /** The first key's last refusal, when each of the keys was refused many times a moment ago. */
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
      // Some clients drop their calls on a 401, so that is not answered while only the brokers' answer is missing.
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
