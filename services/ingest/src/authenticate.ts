/** Who sends: from the request's write key to its source. */

import type { Source } from "@posthaste/core/config/source";
import { isPosthasteError } from "@posthaste/core/errors";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import { type Refusal, unauthorized, unavailable } from "./answer.ts";
import { MAX_WAITING_FOR_SOURCES, REFRESH_TIMEOUT_MS } from "./limits.ts";
import { createRefusedKeys } from "./refused-keys.ts";
import { MAX_KEY_LENGTH, type WriteKeys } from "./write-keys.ts";

export interface AuthenticatorParts {
  readonly writeKeys: WriteKeys;
  /** Reads the table of sources to its present end; rejects when that takes longer than `timeoutMs`. */
  readonly refresh: (timeoutMs: number) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

export type Authentication = { readonly source: Source } | { readonly refusal: Refusal };

export interface Authenticator {
  /**
   * The source of the first of the keys that is known, at once; when none is, what was configured a moment ago is read before it
   * refuses. So many may wait for that and no more: `MAX_WAITING_FOR_SOURCES`.
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
const UNKNOWN: Authentication = {
  refusal: unauthorized("unknown_write_key", "No source has this write key; take the key from the source's settings."),
};
const DISABLED: Authentication = {
  refusal: unauthorized("source_disabled", "The source with this write key is switched off; switch it on to send."),
};
const UNREADABLE: Authentication = {
  refusal: unavailable("unavailable", "The table of sources cannot be read at the moment; send again."),
};

const CROWDED: Authentication = {
  refusal: unavailable("unavailable", "Too many calls with keys that are not known arrive at the moment; send again."),
};

export function createAuthenticator({ writeKeys, refresh, clock, log }: AuthenticatorParts): Authenticator {
  const refreshOnce = shareRefresh(refresh);
  const refused = createRefusedKeys<Authentication>(clock.monotonicMs);
  let waiting = 0;

  /** Undefined where a fresher table may know better. */
  const known = (writeKey: string): Authentication | undefined => {
    const source = writeKeys.find(writeKey, clock.nowMs());
    return source?.enabled ? { source } : undefined;
  };

  const anyKnown = (keys: readonly string[]): Authentication | undefined => {
    for (const key of keys) {
      const found = known(key);
      if (found !== undefined) return found;
    }
    return undefined;
  };

  /** Of keys of which none is known and enabled. */
  const refuse = (keys: readonly string[]): Authentication =>
    keys.some((key) => writeKeys.find(key, clock.nowMs()) !== undefined) ? DISABLED : UNKNOWN;

  const afterRefresh = async (keys: readonly string[]): Promise<Authentication> => {
    try {
      await refreshOnce();
    } catch (error) {
      if (!isPosthasteError(error)) throw error;
      log.warn({ event: "sources_not_refreshed", err: error });
      // Some clients throw their calls away on 401, so that is not said for want of an answer from the brokers.
      return anyKnown(keys) ?? UNREADABLE;
    }
    const found = anyKnown(keys);
    if (found !== undefined) return found;
    const refusal = refuse(keys);
    for (const key of keys) refused.note(key, refusal, writeKeys.version);
    return refusal;
  };

  return {
    authenticate: (all) => {
      const keys = all.filter((key) => key !== "");
      if (keys.length === 0) return MISSING;
      const found = anyKnown(keys);
      if (found !== undefined) return found;
      const possible = keys.filter((key) => key.length <= MAX_KEY_LENGTH);
      if (possible.length === 0) return UNKNOWN;
      const last = possible.map((key) => refused.find(key, writeKeys.version));
      const [remembered] = last;
      if (remembered !== undefined && !last.includes(undefined)) return remembered;
      if (waiting >= MAX_WAITING_FOR_SOURCES) return CROWDED;
      waiting++;
      return afterRefresh(possible).finally(() => {
        waiting--;
      });
    },
    known: (key) => (key === null || key === "" ? MISSING : (known(key) ?? refuse([key]))),
    knownOf: (keys) => (keys.length === 0 ? MISSING : (anyKnown(keys) ?? refuse(keys))),
  };
}

/**
 * However many unknown keys arrive, one refresh runs at a time. A caller that comes during one waits for the next, since
 * the running one may have looked for the end of the table before the caller's key was written.
 */
function shareRefresh(refresh: (timeoutMs: number) => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  const start = (): Promise<void> => {
    const begun = refresh(REFRESH_TIMEOUT_MS).finally(() => {
      if (running === begun) running = undefined;
    });
    running = begun;
    return begun;
  };

  return () => {
    if (running === undefined) return start();
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined;
        return start();
      });
    return next;
  };
}

/**
 * The user name of Basic authentication: what stands before the first colon, or all of it where an old client sends no
 * colon. Null when the header is absent or is of another scheme.
 */
export function writeKeyFromHeader(authorization: string | undefined): string | null {
  if (authorization === undefined) return null;
  const match = /^basic +([\w+/=-]+)\s*$/i.exec(authorization);
  if (match?.[1] === undefined) return null;
  const credentials = Buffer.from(match[1], "base64").toString();
  const colon = credentials.indexOf(":");
  return colon === -1 ? credentials : credentials.slice(0, colon);
}
