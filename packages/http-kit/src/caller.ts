/** The sender of a request, and the rules of access to operations. */
import type { Caller } from "@posthaste/core/access/author";
import type { Scope } from "@posthaste/core/access/scope";

/** The parts of a request's head that identify its sender. */
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
 * The scope that an operation requires. Every token satisfies `any`; `none` requires no token. A dry run may have a
 * scope of its own, which is enough for a body with `dryRun`.
 */
export type Need = Scope | "any" | "none" | { readonly scope: Scope; readonly dryRun: Scope };

/** The rules of access to operations, as the server needs them. */
export interface Callers {
  /** Keyed by operation. */
  readonly needs: Readonly<Record<string, Need>>;
  /** Throws, or rejects with, the Problem `unauthorized`, `forbidden` or `too_many_requests`. */
  callerOf(head: RequestHead): Caller | Promise<Caller>;
  /** False once the caller's token or session no longer exists: a request may last longer than they do. */
  isStillAllowed(caller: Caller): boolean;
}
