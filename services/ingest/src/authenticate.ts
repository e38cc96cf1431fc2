/** Who sends: from the request's write key to its source. */
import { isPosthasteError } from "@posthaste/core/errors";
import type { Log } from "@posthaste/core/log";
import type { Source } from "@posthaste/core/source";
import type { Clock } from "@posthaste/core/time";
import { type Refusal, unauthorized, unavailable } from "./answer.ts";
import { REFRESH_TIMEOUT_MS } from "./limits.ts";
import type { WriteKeys } from "./write-keys.ts";

export interface AuthenticatorParts {
  readonly writeKeys: WriteKeys;
  /** Reads the table of sources to its present end; rejects when that takes longer than `timeoutMs`. */
  readonly refresh: (timeoutMs: number) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

export type Authentication = { readonly source: Source } | { readonly refusal: Refusal };

/** Answers at once for a known key; otherwise reads what was configured a moment ago before it refuses. */
export type Authenticate = (writeKey: string | null) => Authentication | Promise<Authentication>;

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

export function createAuthenticate({ writeKeys, refresh, clock, log }: AuthenticatorParts): Authenticate {
  const refreshOnce = shareRefresh(refresh);

  /** Undefined where a fresher table may know better. */
  const known = (writeKey: string): Authentication | undefined => {
    const source = writeKeys.find(writeKey, clock.nowMs());
    return source?.enabled ? { source } : undefined;
  };

  const afterRefresh = async (writeKey: string): Promise<Authentication> => {
    try {
      await refreshOnce();
    } catch (error) {
      if (!isPosthasteError(error)) throw error;
      log.warn({ event: "sources_not_refreshed", err: error });
      // Some clients throw their calls away on 401, so that is not said for want of an answer from the brokers.
      return known(writeKey) ?? UNREADABLE;
    }
    return known(writeKey) ?? (writeKeys.find(writeKey, clock.nowMs()) === undefined ? UNKNOWN : DISABLED);
  };

  return (writeKey) => {
    if (writeKey === null || writeKey === "") return MISSING;
    return known(writeKey) ?? afterRefresh(writeKey);
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
