/** The sender of a request, and the rules of access to operations. */
import type { Caller } from "@posthaste/core/access/author";
import { missingScopes, type Scope } from "@posthaste/core/access/scope";
import type { FastifyRequest } from "fastify";
import { Problem } from "./problem.ts";

/** The caller of an operation that needs no token. */
export const NOBODY: Caller = { tokenId: null, name: "", scopes: [], sessionId: null, way: "api" };

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

/**
 * Called before the body is read: throws the Problem `forbidden` where the caller's scopes do not allow the operation
 * with any body.
 */
export function assertMayAsk(caller: Caller, need: Need): void {
  const enough = scopesOf(need);
  if (enough.length > 0 && missingScopes(caller.scopes, enough).length === enough.length) throw forbidden(enough[0]);
}

/** Called when the body is known: throws the Problem `forbidden`. */
export function assertMayDo(caller: Caller, need: Need, body: unknown): void {
  if (typeof need === "string") return;
  const scope = isDryRun(body) ? need.dryRun : need.scope;
  if (!caller.scopes.includes(scope)) throw forbidden(scope);
}

/** The scopes of which a caller needs at least one; empty where any token, or none, is enough. */
export function scopesOf(need: Need): readonly Scope[] {
  if (need === "any" || need === "none") return [];
  return typeof need === "string" ? [need] : [need.scope, need.dryRun];
}

export function headOf({ method, headers, ip }: FastifyRequest): RequestHead {
  const { authorization, cookie, host, origin } = headers;
  const [userAgent, lastId] = [headers["user-agent"], headers["last-event-id"]];
  const lastEventId = typeof lastId === "string" ? lastId : undefined;
  return { method, address: ip, authorization, cookie, host, origin, userAgent, lastEventId };
}

function isDryRun(body: unknown): boolean {
  return typeof body === "object" && body !== null && "dryRun" in body && body.dryRun === true;
}

function forbidden(scope: Scope | undefined): Problem {
  return new Problem("forbidden", `this needs a token with the scope ${scope}`);
}
