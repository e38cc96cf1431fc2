/** The audit: who changed what, newest first. */
import { AUDIT_WAYS } from "@posthaste/core/access/audit-entry";
import { OTHER } from "@posthaste/core/event/event";
import { z } from "zod";
import { refusedCursor } from "../http/list-cursor.ts";
import { timeRange } from "../http/moment.ts";
import { pageOf, pageQuery } from "../http/page.ts";
import { defineRoute, type Route } from "../http/route.ts";
import type { AuditJournal, HeldEntry } from "./audit-journal.ts";
import { userTarget } from "./audited-fields.ts";

const REFRESH_MS = 5000;

const auditQuery = pageQuery.extend({
  actor: z.string().optional().describe("The name or the id of a token."),
  target: z.string().optional().describe("The id of what was changed, or of a user."),
  operation: z.string().optional().describe("As in /openapi.json: changeSource."),
  ...timeRange,
});

const time = z.iso.datetime();

const auditEntry = z.object({
  id: z.int().describe("Rises from entry to entry."),
  time,
  actor: z.string().describe("The name of the token."),
  tokenId: z.string().nullable().describe("Null for the token of the environment."),
  way: z.enum([...AUDIT_WAYS, OTHER]).describe("By what it was asked for."),
  operation: z.string(),
  target: z.string().describe("What was changed: its id; of a user, the beginning of the id's SHA-256."),
  changes: z.array(
    z.object({
      field: z.string(),
      from: z.string().nullable().describe("Null where there was nothing; a secret reads as changed."),
      to: z.string().nullable(),
    }),
  ),
  requestId: z.string().describe("X-Request-Id of the answer."),
});

const auditPage = pageOf(auditEntry).extend({
  searchedTo: time.nullable().describe("Where the search ended early, go on with nextCursor; else null."),
});

export function auditRoutes(journal: AuditJournal): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/audit",
      operation: "listAudit",
      summary: "Who changed what, newest first",
      query: auditQuery,
      answer: { status: 200, description: "One page.", body: { name: "AuditPage", schema: auditPage } },
      handle: async ({ query: { limit, cursor, ...wanted } }) => {
        const below = cursor === undefined ? undefined : offsetOf(cursor);
        const found = await journal.page({ limit, below, fits: auditCheck(wanted) }, REFRESH_MS);
        return {
          data: found.entries.map(view),
          nextCursor: found.below === null ? null : `o${found.below}`,
          searchedTo: found.searchedToMs === null ? null : new Date(found.searchedToMs).toISOString(),
          ...found.freshness,
        };
      },
    }),
  ];
}

type Wanted = Omit<z.output<typeof auditQuery>, "limit" | "cursor">;

/** The test of an entry for a query. */
export function auditCheck({ actor, target, operation, since, until }: Wanted): (entry: HeldEntry) => boolean {
  const userOf = target === undefined ? undefined : userTarget(target);
  return (entry) => {
    if (actor !== undefined && entry.actor !== actor && entry.tokenId !== actor) return false;
    if (target !== undefined && entry.target !== target && entry.target !== userOf) return false;
    if (operation !== undefined && entry.operation !== operation) return false;
    return (since === undefined || entry.atMs >= since) && (until === undefined || entry.atMs < until);
  };
}

/** An entry as the API shows it. */
export function viewAuditEntry(entry: HeldEntry): z.output<typeof auditEntry> {
  return auditEntry.parse(view(entry));
}

function offsetOf(cursor: string): number {
  const [, offset] = /^o(\d{1,15})$/.exec(cursor) ?? [];
  if (offset === undefined) throw refusedCursor();
  return Number(offset);
}

function view({ offset, atMs, changes, ...entry }: HeldEntry): z.output<typeof auditEntry> {
  return { ...entry, id: offset, time: new Date(atMs).toISOString(), changes: [...changes] };
}
