/** The audit: the changes with their authors, newest first. */

import type { HeldEntry } from "@posthaste/configuration/audit-log";
import { userTarget } from "@posthaste/configuration/audited-fields";
import { AUDIT_WAYS } from "@posthaste/core/access/audit-entry";
import { OTHER } from "@posthaste/core/event/event";
import { freshAnswer } from "@posthaste/http-kit/freshness";
import { packCursor, refusedCursor, unpackCursor } from "@posthaste/http-kit/list-cursor";
import { timeRange } from "@posthaste/http-kit/moment";
import { pageOf, pageQuery } from "@posthaste/http-kit/page";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import { z } from "zod";
import {
  type AuditPlace,
  findUnknownChanges,
  mergedPage,
  UNKNOWN,
  type UnknownChange,
  type UnknownChangesParts,
} from "./unknown-changes.ts";

const REFRESH_MS = 5000;

const auditQuery = pageQuery.extend({
  actor: z.string().optional().describe("The name or the id of a token."),
  target: z.string().optional().describe("The id of what was changed, or of a user."),
  operation: z.string().optional().describe("As in /openapi.json: changeSource."),
  ...timeRange,
});

const time = z.iso.datetime();

const auditEntry = z.object({
  id: z.int().nullable().describe("Rises from entry to entry; null for a change that has none."),
  time,
  actor: z.string().describe("The name of the token; unknown for a change without an entry."),
  tokenId: z.string().nullable().describe("Null for the token of the environment, and where nobody is known."),
  way: z
    .enum([...AUDIT_WAYS, OTHER, UNKNOWN])
    .describe("By what it was asked for; unknown for a change without an entry, which nobody asked control for."),
  operation: z.string().describe("As in this description; change or remove of a change without an entry."),
  target: z.string().describe("What was changed: its id; of a user, the beginning of the id's SHA-256."),
  changes: z.array(
    z.object({
      field: z.string(),
      from: z.string().nullable().describe("Null where there was nothing; a secret reads as changed."),
      to: z.string().nullable(),
    }),
  ),
  requestId: z.string().nullable().describe("X-Request-Id of the answer; null for a change without an entry."),
});

const auditPage = pageOf(auditEntry).extend({
  searchedTo: time.nullable().describe("Where the search ended early, go on with nextCursor; else null."),
});

/** Where the first page begins. */
const NEWEST: AuditPlace = { below: 999_999_999_999_999, behind: null, untilMs: null };

export function auditRoutes(parts: UnknownChangesParts): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/audit",
      operation: "listAudit",
      summary: "Who changed what, newest first",
      query: auditQuery,
      answer: { status: 200, description: "One page.", body: { name: "AuditPage", schema: auditPage } },
      handle: async ({ query: { limit, cursor, ...wanted } }) => {
        const from = cursor === undefined ? NEWEST : placeOf(cursor);
        const { target, until } = wanted;
        const asked = { target, from: { ...from, untilMs: from.untilMs ?? until ?? null }, limit };
        const unknown = mayBeUnknown(wanted) ? await findUnknownChanges(asked, parts, REFRESH_MS) : [];
        const fits = auditCheck(wanted);
        const found = await parts.auditLog.page({ limit, below: from.below, fits }, REFRESH_MS);
        const { rows, next } = mergedPage(found, unknown.filter(fits), { from, limit });
        return {
          data: rows.map(view),
          nextCursor: next === null ? null : cursorOf(next),
          searchedTo: found.searchedToMs === null ? null : new Date(found.searchedToMs).toISOString(),
          ...freshAnswer(found.freshness),
        };
      },
    }),
  ];
}

type Checked = Pick<HeldEntry, "actor" | "tokenId" | "target" | "operation" | "atMs">;
type Wanted = Omit<z.output<typeof auditQuery>, "limit" | "cursor">;

/** The test of an entry for a query. */
export function auditCheck({ actor, target, operation, since, until }: Wanted): (entry: Checked) => boolean {
  const userOf = target === undefined ? undefined : userTarget(target);
  return (entry) => {
    if (actor !== undefined && entry.actor !== actor && entry.tokenId !== actor) return false;
    if (target !== undefined && entry.target !== target && entry.target !== userOf) return false;
    if (operation !== undefined && entry.operation !== operation) return false;
    return (since === undefined || entry.atMs >= since) && (until === undefined || entry.atMs < until);
  };
}

/** Whether a change without an entry can fit the filter. */
function mayBeUnknown({ actor = UNKNOWN, operation = "change" }: Wanted): boolean {
  return actor === UNKNOWN && (operation === "change" || operation === "remove");
}

/** An entry as the API shows it. */
export function viewAuditEntry(entry: HeldEntry): z.output<typeof auditEntry> {
  return auditEntry.parse(view(entry));
}

const cursorSchema = z.tuple([z.int().min(0), z.int().nullable(), z.tuple([z.int(), z.string(), z.int()]).nullable()]);

function cursorOf({ below, untilMs, behind }: AuditPlace): string {
  const unknown = behind === null ? null : [behind.atMs, behind.target, behind.revision];
  return packCursor(JSON.stringify([below, untilMs, unknown]));
}

function placeOf(cursor: string): AuditPlace {
  const read = cursorSchema.safeParse(jsonOf(unpackCursor<[string]>(cursor, /^(.+)$/s)[0]));
  if (!read.success) throw refusedCursor();
  const [below, untilMs, unknown] = read.data;
  if (unknown === null) return { below, untilMs, behind: null };
  const [atMs, target, revision] = unknown;
  return { below, untilMs, behind: { atMs, target, revision } };
}

/** Undefined for a text that is no JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function view(row: HeldEntry | UnknownChange): z.output<typeof auditEntry> {
  const shown = { time: new Date(row.atMs).toISOString(), changes: [...row.changes] };
  if (!("offset" in row)) {
    const { actor, tokenId, operation, target } = row;
    return { ...{ id: null, actor, tokenId, operation, target, way: UNKNOWN, requestId: null }, ...shown };
  }
  const { offset, atMs: _, revision: __, ...entry } = row;
  return { ...entry, id: offset, ...shown };
}
