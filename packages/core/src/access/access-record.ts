/**
 * Who may ask control: a record of `posthaste.tokens`. What opens anything stands in it as a SHA-256 alone.
 *
 * A token has a name and scopes, and no hash where it is only used by sign-in links. A link is of a token and opens one
 * session. A session acts as its token and ends with it. A use says when a token's text was used last, beside the
 * token: its record is not written again for that, so that no use can undo a revocation.
 */
import type { Scope } from "./scope.ts";

export const ACCESS_KINDS = ["token", "link", "session", "use"] as const;
export type AccessKind = (typeof ACCESS_KINDS)[number];

/** Stands for the token of the environment, which is no record. */
export const ADMIN_TOKEN_ID = "admin";

export interface AccessRecord {
  readonly id: string;
  readonly revision: number;
  /** `other`: of a later version, which this one lets do nothing. */
  readonly kind: AccessKind | "other";
  /** Of a token, for people; of a link or a session, its token's when it was made. */
  readonly name: string;
  /** Of the text that opens it, in hex; null where nothing does. */
  readonly hash: string | null;
  /** Of a token; empty for the others, which have their token's. */
  readonly scopes: readonly Scope[];
  /**
   * The token that a link, a session or a use is of, and with which one ends that was made for a terminal; null for
   * none.
   */
  readonly tokenId: string | null;
  /** Tells the token of the environment from the one before, where `tokenId` is that; null for any other. */
  readonly adminMark: string | null;
  readonly createdAtMs: number;
  /** The name of the token by which it was made. */
  readonly createdBy: string;
  /** Ends then whatever happens; null for never. */
  readonly expiresAtMs: number | null;
  /**
   * Of a link: when it was used; of a session and a use: when it was last used, as far as that was written; null for
   * never.
   */
  readonly usedAtMs: number | null;
}

const HOUR_MS = 60 * 60 * 1000;
/** A link that nobody opened. */
export const LINK_MS = 24 * HOUR_MS;
/** A session in use. */
export const SESSION_MS = 7 * 24 * HOUR_MS;
/** A session of which no use was written. */
export const SESSION_IDLE_MS = 12 * HOUR_MS;
/** A session's use is written again when the last one that was is older. */
export const SESSION_NOTE_MS = 5 * 60 * 1000;

/** The same of a token's. */
export const USE_NOTE_MS = 60 * 1000;

/** Whether it is over by itself; whether its token is still there is not looked at. */
export function isExpired({ kind, expiresAtMs, usedAtMs, createdAtMs }: AccessRecord, nowMs: number): boolean {
  if (expiresAtMs !== null && nowMs >= expiresAtMs) return true;
  if (kind === "link") return usedAtMs !== null;
  return kind === "session" && nowMs >= (usedAtMs ?? createdAtMs) + SESSION_IDLE_MS;
}
