/** docs/webhooks.md shows each operational event as it is sent. */
import { readFile } from "node:fs/promises";
import type { JudgedHealth } from "@posthaste/core/health/health-state";
import { toWebhookBody } from "@posthaste/core/routing/body";
import { expect, it } from "vitest";
import { type News, NOTHING_REPORTED, newsOf, type Reported, topicNewsOf } from "./news.ts";
import { toEvent } from "./teller.ts";

const PAGE = new URL("../../../docs/webhooks.md", import.meta.url);
const NOW = Date.parse("2026-11-28T12:00:00.000Z");
const MINUTE = 60_000;
const ID = "dst_4k2v8m1n0p3q5r7s";
const answer = { url: "https://shop.example/hook", atMs: NOW, outcome: "retryable", durationMs: 4 } as const;
const nothing = { reason: null, nextProbeMs: null, deliversAgainSinceMs: null, sinceMs: null };

/** Returns the bodies of the news of a destination. */
function told(judged: JudgedHealth, dead: number, before: Reported = NOTHING_REPORTED): readonly unknown[] {
  const { news } = newsOf({ id: ID, name: "Shop", judged, openDeadLetters: dead }, before, NOW);
  return bodies(news, ID);
}

const bodies = (news: readonly News[], id: string): readonly unknown[] =>
  news.map((each, number) => JSON.parse(toWebhookBody(toEvent(each, { id, number, nowMs: NOW }))));

it("docs/webhooks.md shows each operational event as it is sent", async () => {
  const [, section = ""] = (await readFile(PAGE, "utf8")).split("## Operational webhooks");
  const shown = [...section.matchAll(/^```json\n(.*?)^```$/gms)].map(([, text = ""]) => JSON.parse(text));
  const refused = { ...answer, status: 503, error: null };
  const silent = { ...answer, status: null, error: "timeout" as const };
  const stopped: Reported = {
    ...NOTHING_REPORTED,
    state: "stopped",
    failingSinceMs: NOW - 10 * MINUTE,
    openDeadLetters: 3,
  };
  const old = { topic: "posthaste.deliveries", records: 12, retentionMs: 604_800_000 };
  expect(shown).toEqual([
    ...told({ ...nothing, state: "failing", sinceMs: NOW - MINUTE, reason: refused }, 0),
    ...told({ ...nothing, state: "open", sinceMs: NOW - 10 * MINUTE, reason: silent, nextProbeMs: NOW + MINUTE }, 0),
    ...told({ ...nothing, state: "healthy" }, 3, stopped),
    ...told({ ...nothing, state: "healthy" }, 3),
    ...bodies(topicNewsOf(old, { count: 0, atMs: null }, NOW).news, old.topic),
  ]);
  expect(shown).toHaveLength(5);
  for (const { event } of shown) expect(section).toContain(`| \`${event}\` |`);
});
