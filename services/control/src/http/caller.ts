/** Who asks, and in which words a change that is asked for stands in the audit. */
import type { AuditWay } from "@posthaste/core/access/audit-entry";
import type { Scope } from "@posthaste/core/access/scope";

export interface Caller {
  /** Of the token; null for the token of the environment. */
  readonly tokenId: string | null;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** By which it acts as the token; null for the token itself. */
  readonly sessionId: string | null;
  readonly way: AuditWay;
}

/** Whose change it is, and by which request. */
export interface Author {
  readonly caller: Caller;
  readonly operation: string;
  readonly requestId: string;
}

/** What of a request's head says who asks. */
export interface RequestHead {
  readonly method: string;
  /** Whose connection it is. */
  readonly address: string;
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly userAgent: string | undefined;
  /** Of a stream that goes on: the last event of the one before. */
  readonly lastEventId?: string | undefined;
}

/**
 * What an operation needs: one of the scopes; `any`, which is some token; `none`, not even that. Where a dry run has a
 * scope of its own, that is enough for a body with `dryRun`.
 */
export type Need = Scope | "any" | "none" | { readonly scope: Scope; readonly dryRun: Scope };

/** The rules of who may ask, as the server needs them. */
export interface Callers {
  /** By operation. */
  readonly needs: Readonly<Record<string, Need>>;
  /** Throws, or rejects with, the Problem `unauthorized`, `forbidden` or `too_many_requests`. */
  callerOf(head: RequestHead): Caller | Promise<Caller>;
}
