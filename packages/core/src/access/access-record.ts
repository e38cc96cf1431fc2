/**
 * A caller of control, its sessions and links: a record of `posthaste.tokens`. The text that opens a record is kept as
 * its SHA-256 alone.
 *
 * Kinds: a *token* has a name and scopes, and no hash where only sign-in links use it. A *link* belongs to a token and
 * opens one session. A *session* acts as its token and ends with it. A *use* says when a token's text was used last; it
 * is a record of its own, so that noting a use cannot undo a revocation.
 */
import type { Scope } from "./scope.ts";

export const ACCESS_KINDS = ["token", "link", "session", "use"] as const;
export type AccessKind = (typeof ACCESS_KINDS)[number];

/** The id of the token from the environment, which has no record. */
export const ADMIN_TOKEN_ID = "admin";

export interface AccessRecord {
  readonly id: string;
  readonly revision: number;
  /** `other`: a kind of a later release, which allows nothing in this one. */
  readonly kind: AccessKind | "other";
  /** A token's name, for people; a link or a session has the name that its token had when it was made. */
  readonly name: string;
  /** The SHA-256, in hex, of the text that opens the record; null where no text does. */
  readonly hash: string | null;
  /** A token's scopes; empty for the other kinds, which have the scopes of their token. */
  readonly scopes: readonly Scope[];
  /**
   * The token of a link, a session or a use. For a token that was made for a terminal: the token that it ends with.
   * Null for any other token.
   */
  readonly tokenId: string | null;
  /**
   * Tells one token of the environment from the one before, where `tokenId` is `ADMIN_TOKEN_ID`; null for any other.
   */
  readonly adminMark: string | null;
  readonly createdAtMs: number;
  /** The name of the token that the maker used. */
  readonly createdBy: string;
  /** When the record ends whatever happens; null for never. */
  readonly expiresAtMs: number | null;
  /** For a link: when it was used. For a session and a use: the last use that was written. Null for never. */
  readonly usedAtMs: number | null;
}

const HOUR_MS = 60 * 60 * 1000;
/** How long a link that nobody opens lasts. */
export const LINK_MS = 24 * HOUR_MS;
/** How long a session lasts that is in use. */
export const SESSION_MS = 7 * 24 * HOUR_MS;
/** How long a session lasts of which no use is written. */
export const SESSION_IDLE_MS = 12 * HOUR_MS;
/** A session's use is written when the last that was written is older than this. */
export const SESSION_NOTE_MS = 5 * 60 * 1000;

/** A token's use is written when the last that was written is older than this. */
export const USE_NOTE_MS = 60 * 1000;

/** Whether the record is over by itself, whatever became of its token. */
export function isExpired({ kind, expiresAtMs, usedAtMs, createdAtMs }: AccessRecord, nowMs: number): boolean {
  if (expiresAtMs !== null && nowMs >= expiresAtMs) return true;
  if (kind === "link") return usedAtMs !== null;
  return kind === "session" && nowMs >= (usedAtMs ?? createdAtMs) + SESSION_IDLE_MS;
}
