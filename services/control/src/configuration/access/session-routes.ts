/** Sessions of browsers: opened by a sign-in link or a token, looked at, ended. */

import type { Caller } from "@posthaste/core/access/author";
import { SCOPES } from "@posthaste/core/access/scope";
import type { ConsoleOrigins } from "@posthaste/http-kit/console-origins";
import { AnswerWithHeaders, defineRoute, type Route } from "@posthaste/http-kit/route";
import { sessionCookie } from "@posthaste/http-kit/session-cookie";
import { z } from "zod";
import type { SessionHandlers } from "./session-handlers.ts";
import { madeToken, viewToken } from "./token-routes.ts";

const key = z.union(
  [
    z.strictObject({ code: z.string().min(1).describe("What stands in a sign-in link behind sign-in=.") }),
    z.strictObject({ token: z.string().min(1) }),
  ],
  "expected a code or a token",
);

const session = z.object({
  name: z.string().describe("Of the token that it acts as."),
  tokenId: z.string().nullable().describe("Null for the token of the environment."),
  scopes: z.array(z.enum(SCOPES)),
  expiresAt: z.iso.datetime().nullable().describe("At the latest, and after 12 hours without use; null for a token."),
});

const madeLink = z.object({
  link: z.string().describe("Opens one session, once, within 24 hours. Told here and nowhere again."),
  expiresAt: z.iso.datetime(),
});

const named = { name: "Session", schema: session };

export function sessionRoutes(handlers: SessionHandlers, origins: ConsoleOrigins): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/session",
      operation: "openSession",
      summary: "Sign a browser in, by the code of a sign-in link or by a token: the answer sets a cookie",
      body: { name: "SessionKey", schema: key },
      answer: { status: 201, description: "Who is signed in.", body: named },
      handle: async ({ body, head, by }) => {
        const origin = origins.originOf(head);
        if (head.origin !== undefined) origins.assertOwnPage(head);
        const { caller, record, code } = await handlers.open(body, head, by);
        const { port } = origins;
        return new AnswerWithHeaders(view(caller, record.expiresAtMs), {
          "set-cookie": sessionCookie(code, { port, origin }),
        });
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/session",
      operation: "getSession",
      summary: "Who asks",
      answer: { status: 200, description: "Who asks, by a session or a token.", body: named },
      handle: ({ by }) => view(by.caller, handlers.find(by.caller)?.expiresAtMs ?? null),
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/session",
      operation: "endSession",
      summary: "Sign out",
      answer: { status: 204, description: "The cookie is worth nothing any more." },
      refusals: ["conflict"],
      handle: async ({ head, by }) => {
        await handlers.end(by);
        const cookie = sessionCookie(null, { port: origins.port, origin: origins.originOf(head) });
        return new AnswerWithHeaders(undefined, { "set-cookie": cookie });
      },
    }),
    ...ownRoutes(handlers),
  ];
}

/** The routes by which callers make a token or a link for themselves, with the scopes that they have. */
function ownRoutes(handlers: SessionHandlers): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/session/token",
      operation: "createOwnToken",
      summary: "A token for one's own terminal, in place of the last one; it ends with the caller's own",
      answer: { status: 201, description: "The token.", body: { name: "MadeToken", schema: madeToken } },
      handle: async ({ by }) => {
        const { record, token } = await handlers.createOwnToken(by);
        return { ...viewToken(record), token };
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/session/link",
      operation: "createOwnLink",
      summary: "A sign-in link for one's own browser",
      answer: { status: 201, description: "The link.", body: { name: "MadeLink", schema: madeLink } },
      handle: async ({ head, by }) => {
        const { link, expiresAtMs } = await handlers.createLink(head, by);
        return { link, expiresAt: new Date(expiresAtMs).toISOString() };
      },
    }),
  ];
}

function view({ name, tokenId, scopes }: Caller, expiresAtMs: number | null): z.output<typeof session> {
  const expiresAt = expiresAtMs === null ? null : new Date(expiresAtMs).toISOString();
  return { name, tokenId, scopes: [...scopes], expiresAt };
}
