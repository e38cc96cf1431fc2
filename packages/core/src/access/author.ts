/** The caller of a request, and the author that the audit names. */
import type { AuditWay } from "./audit-entry.ts";
import type { Scope } from "./scope.ts";

export interface Caller {
  /** The token's id; null for the token that the environment sets. */
  readonly tokenId: string | null;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** The session through which a browser acts as the token; null where the request carries the token itself. */
  readonly sessionId: string | null;
  readonly way: AuditWay;
}

/** The author of a change: the caller and the request. */
export interface Author {
  readonly caller: Caller;
  readonly operation: string;
  readonly requestId: string;
}
