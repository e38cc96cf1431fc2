/** Audiences and computed traits as the API shows them. */

import type { SyncProgress } from "@posthaste/audiences/audience-sync";
import type { Held } from "@posthaste/audiences/member-rows";
import type { Audience } from "@posthaste/core/audience/audience";
import { pageOf } from "@posthaste/http-kit/page";
import { z } from "zod";

const time = z.iso.datetime();

const syncing = z.object({
  since: time,
  received: z.int().nullable().describe("Users that were uploaded so far; null when another process has it."),
  compared: z
    .int()
    .nullable()
    .describe("Users of the upload that were compared so far; null when another process has it."),
});

const summary = z.object({ startedAt: time, endedAt: time, added: z.int(), removed: z.int(), unchanged: z.int() });

const entry = z.object({
  id: z.string(),
  name: z.string(),
  trait: z.string().describe("The trait of the identifies: the snake_case form of the name."),
  sourceId: z.string(),
  size: z.int().describe("Users in it; of a computed trait, users who have a value."),
  syncing: syncing.nullable().describe("The sync that runs; null when none does."),
  lastSync: summary
    .nullable()
    .describe("What the last whole sync came to; of a computed trait, `added` counts values that changed."),
  createdAt: time,
});

const single = entry.extend({
  identifiesWaiting: z.int().describe("Records of all audiences that are to become identifies still."),
});

export const audiencePage = { name: "AudiencePage", schema: pageOf(entry) };
export const audienceEntry = { name: "AudienceEntry", schema: entry };
export const audienceAnswer = { name: "Audience", schema: single };
export const memberAnswer = {
  name: "AudienceMember",
  schema: z.object({
    userId: z.string(),
    member: z.boolean(),
    since: time.nullable().describe("When that became so; null for somebody who was never in it."),
  }),
};
export const membersAnswer = {
  name: "MembersChange",
  schema: z.object({ added: z.int(), removed: z.int(), unchanged: z.int() }),
};
export const valuesAnswer = { name: "ValuesChange", schema: z.object({ changed: z.int(), unchanged: z.int() }) };

export interface Seen {
  readonly held: Held;
  readonly progress: SyncProgress | undefined;
  readonly nowMs: number;
}

export function viewAudience(audience: Audience, { held, progress, nowMs }: Seen): z.output<typeof entry> {
  const { id, kind, name, trait, sourceId, lease, lastSync, createdAtMs } = audience;
  const isRunning = lease !== null && lease.untilMs > nowMs;
  return {
    ...{ id, name, trait, sourceId },
    size: kind === "audience" ? held.users - held.falses : held.users,
    syncing: isRunning
      ? { since: iso(lease.sinceMs), received: progress?.received ?? null, compared: progress?.compared ?? null }
      : null,
    lastSync:
      lastSync === null
        ? null
        : {
            ...{ startedAt: iso(lastSync.startedAtMs), endedAt: iso(lastSync.endedAtMs) },
            ...{ added: lastSync.added, removed: lastSync.removed, unchanged: lastSync.unchanged },
          },
    createdAt: iso(createdAtMs),
  };
}

export function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}
