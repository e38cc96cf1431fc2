/** The routes that show and end the suppressions of one user. Deletion requests make them. */

import type { AuditTrail } from "@posthaste/configuration/audit-trail";
import { userTarget } from "@posthaste/configuration/audited-fields";
import { type ConfigStore, WRITE_DEADLINE_MS } from "@posthaste/configuration/config-store";
import { ILL_FORMED_ID, isWellFormedId } from "@posthaste/core/call/well-formed";
import type { Source } from "@posthaste/core/config/source";
import { suppressionKey } from "@posthaste/core/deletion/suppression";
import type { SuppressedUser, SuppressionWriter } from "@posthaste/deletions/suppression-writer";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import type { SuppressedUsersTable } from "@posthaste/kafka/log/suppressed-users";
import { z } from "zod";
import { sourceOf } from "../../configuration/sources/source-access.ts";

export interface SuppressionRoutesOptions {
  readonly sources: ConfigStore<Source>;
  readonly suppressed: SuppressedUsersTable;
  readonly writer: SuppressionWriter;
  readonly trail: AuditTrail;
}

const suppressionQuery = z.strictObject({
  userId: z.string("a user id is needed").min(1, "a user id is needed").max(8192).refine(isWellFormedId, ILL_FORMED_ID),
  sourceId: z.string().optional().describe("Only this source; every source when absent."),
});

const suppressionAnswer = z.object({
  userId: z.string(),
  sourceIds: z.array(z.string()).describe("The sources of which nothing about the user is delivered."),
});

const endedAnswer = z.object({
  userId: z.string(),
  ended: z.array(z.string()).describe("The sources of which events are delivered again from now on."),
});

export function suppressionRoutes({ sources, suppressed, writer, trail }: SuppressionRoutesOptions): readonly Route[] {
  const find = async (userId: string, sourceId: string | undefined): Promise<readonly SuppressedUser[]> => {
    if (sourceId !== undefined) await sourceOf(sourceId, sources);
    // Records that another control process wrote a moment ago count too.
    await suppressed.refresh(WRITE_DEADLINE_MS);
    const ids = sourceId === undefined ? [...sources.values()].map(({ id }) => id) : [sourceId];
    return ids.filter((id) => suppressed.has(suppressionKey(id, userId))).map((id) => ({ sourceId: id, userId }));
  };
  return [
    defineRoute({
      method: "GET",
      path: "/v1/suppressions",
      operation: "getSuppressions",
      summary: "Of which sources nothing about a user is delivered",
      query: suppressionQuery,
      answer: { status: 200, description: "The sources.", body: { name: "Suppressions", schema: suppressionAnswer } },
      refusals: ["not_found"],
      handle: async ({ query: { userId, sourceId } }) => {
        const found = await find(userId, sourceId);
        return { userId, sourceIds: found.map((each) => each.sourceId) };
      },
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/suppressions",
      operation: "endSuppressions",
      summary: "Deliver a user's events again, from those that the sources send from now on",
      query: suppressionQuery,
      answer: {
        status: 200,
        description: "The brokers have it; empty where nothing was suppressed.",
        body: { name: "EndedSuppressions", schema: endedAnswer },
      },
      refusals: ["not_found"],
      handle: async ({ query: { userId, sourceId }, by }) => {
        const found = await find(userId, sourceId);
        const sourceIds = found.map((each) => each.sourceId);
        const audited = { target: userTarget(userId), from: { suppressedOf: sourceIds }, to: null };
        await writer.end(found, trail.recordsOf(by, audited));
        return { userId, ended: sourceIds };
      },
    }),
  ];
}
