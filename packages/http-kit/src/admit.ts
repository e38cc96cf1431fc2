/** Whether a caller may have an operation done. */

import type { Caller } from "@posthaste/core/access/author";
import { missingScopes, type Scope } from "@posthaste/core/access/scope";
import type { FastifyRequest } from "fastify";
import type { Need, RequestHead } from "./caller.ts";
import { Problem } from "./problem.ts";

/** The caller of an operation that needs no token. */
export const NOBODY: Caller = { tokenId: null, name: "", scopes: [], sessionId: null, way: "api" };

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
