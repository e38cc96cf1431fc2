/** The routes of tokens, which give callers access by scopes. */

import type { AccessRecord } from "@posthaste/core/access/access-record";
import { SCOPES } from "@posthaste/core/access/scope";
import { isPlainName, PLAIN_NAME_WORDS } from "@posthaste/core/config/source-settings";
import { isoTimeOrNull } from "@posthaste/http-kit/moment";
import { pageOf, pageQuery } from "@posthaste/http-kit/page";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import { z } from "zod";
import { UNKNOWN } from "../audit/unknown-changes.ts";
import type { SessionHandlers } from "./session-handlers.ts";
import { ADMIN_NAME } from "./token-callers.ts";
import type { TokenHandlers } from "./token-handlers.ts";

const scope = z.enum(SCOPES, `expected one of ${SCOPES.join(", ")}`);
/** Names by which the audit tells of the environment's token, and of a change whose author nobody knows. */
const OF_THE_AUDIT: readonly string[] = [ADMIN_NAME, UNKNOWN];
const name = z
  .string("expected a name")
  .trim()
  .min(1, "expected a name")
  .max(100, "expected 100 characters at the most")
  .refine(isPlainName, PLAIN_NAME_WORDS)
  .refine((given) => !OF_THE_AUDIT.includes(given.toLowerCase()), "the audit gives this name itself: choose another");

const tokenInput = z.strictObject({
  link: z.boolean().default(false).describe("A sign-in link in place of the token's text."),
  name: name.describe("Of a person or a program: what the audit calls whoever uses it."),
  scopes: z
    .array(scope)
    .min(1, "expected one scope at least")
    .transform((scopes) => SCOPES.filter((each) => scopes.includes(each)))
    .describe("What it may be used for; none that the caller's own token has not."),
});

const listedToken = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(scope),
  createdAt: z.iso.datetime(),
  createdBy: z.string().describe("The name of the token by which it was made."),
});

const tokenInUse = listedToken.extend({
  linkUntil: z.iso
    .datetime()
    .nullable()
    .describe("Until when its sign-in link can be opened; null where that was done, and where there is none."),
  sessionUsedAt: z.iso
    .datetime()
    .nullable()
    .describe("When a browser that is signed in by it asked last, to five minutes; null for none."),
  usedAt: z.iso.datetime().nullable().describe("When its text was used last, to a minute; null for never."),
});

export const madeToken = listedToken.extend({ token: z.string().describe("Told here and nowhere again.") });

const tokenWithKey = listedToken.extend({
  token: z.string().nullable().describe("Told here and nowhere again; null where a link was asked for."),
  link: z.string().nullable().describe("Signs a browser in, once, within 24 hours; null where none was asked for."),
});

export function tokenRoutes(handlers: TokenHandlers, links: Pick<SessionHandlers, "createLink">): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/tokens",
      operation: "listTokens",
      summary: "Tokens, oldest first; what opens them is not kept",
      query: pageQuery,
      answer: { status: 200, description: "One page.", body: { name: "TokenPage", schema: pageOf(tokenInUse) } },
      handle: ({ query }) => {
        const page = handlers.list(query);
        const data = page.data.map(({ record, linkUntilMs, sessionUsedAtMs, usedAtMs }) => ({
          ...viewToken(record),
          linkUntil: isoTimeOrNull(linkUntilMs),
          sessionUsedAt: isoTimeOrNull(sessionUsedAtMs),
          usedAt: isoTimeOrNull(usedAtMs),
        }));
        return { ...page, data };
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/tokens",
      operation: "createToken",
      summary: "Make a token; it, or a sign-in link for it, is told once",
      body: { name: "TokenInput", schema: tokenInput },
      answer: { status: 201, description: "The token.", body: { name: "TokenWithKey", schema: tokenWithKey } },
      handle: async ({ body, head, by }) => {
        const { record, token, link } = await handlers.create(body, by, (made) => links.createLink(head, by, made));
        return { ...viewToken(record), token, link };
      },
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/tokens/{id}",
      operation: "revokeToken",
      summary: "Revoke a token: it is refused here from the answer on, and by other control processes within a second",
      answer: { status: 204, description: "It is gone, and every session that acted as it." },
      refusals: ["not_found"],
      handle: ({ params, by }) => handlers.revoke(params.id, by),
    }),
  ];
}

/** A token as the API shows it, without the text that opens it. */
export function viewToken(record: AccessRecord): z.output<typeof listedToken> {
  const { id, name: of, scopes, createdAtMs, createdBy } = record;
  return { id, name: of, scopes: [...scopes], createdAt: new Date(createdAtMs).toISOString(), createdBy };
}
