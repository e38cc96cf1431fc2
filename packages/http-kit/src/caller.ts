/** The sender of a request, and the rules of who may ask. */
import type { Caller } from "@posthaste/core/access/author";
import type { Scope } from "@posthaste/core/access/scope";

/** The parts of a request's head that tell who sends it. */
export interface RequestHead {
  readonly method: string;
  /** The peer's IP address. */
  readonly address: string;
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly userAgent: string | undefined;
  /** The id of the last event that the client of an event stream received before it reconnected. */
  readonly lastEventId?: string | undefined;
}

/**
 * What an operation asks of its caller: a scope; `any`, which every token satisfies; or `none`, for which no token is
 * needed. Where a dry run has a scope of its own, that scope is enough for a body with `dryRun`.
 */
export type Need = Scope | "any" | "none" | { readonly scope: Scope; readonly dryRun: Scope };

/** The rules of who may ask, as the server needs them. */
export interface Callers {
  /** Keyed by operation. */
  readonly needs: Readonly<Record<string, Need>>;
  /** Throws, or rejects with, the Problem `unauthorized`, `forbidden` or `too_many_requests`. */
  callerOf(head: RequestHead): Caller | Promise<Caller>;
  /** False once the caller's token or session no longer exists: a request may last longer than they do. */
  isStillAllowed(caller: Caller): boolean;
}
