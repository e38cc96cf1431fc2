/** PA1 and PA2 of past-answers.ts, as rows of the list tell them; a table's order is DY1's own test. */
import { DatabaseSync } from "node:sqlite";
import { DELIVERY_STATES } from "@posthaste/core/verdict/delivery-state";
import { deliveryFromEntry, loggedDeliveryEntries, lostDeliveryEntries } from "@posthaste/read-model/delivery-entry";
import { DeliveryTable } from "@posthaste/read-model/delivery-table";
import type { ProjectionEntry } from "@posthaste/read-model/projection-entry";
import { attemptAt, deadLetterAt } from "@posthaste/testbed/log-writer";
import { afterEach, beforeEach, expect, it } from "vitest";
import { viewLatest } from "./latest-view.ts";

let database: DatabaseSync;
let table: DeliveryTable;
beforeEach(() => {
  database = new DatabaseSync(":memory:");
  const bounds = { maxEntries: 1000, keepMs: 24 * 60 * 60 * 1000 };
  table = new DeliveryTable(database, { name: "deliveries", kinds: DELIVERY_STATES, nowMs: Date.now, ...bounds });
});
afterEach(() => database.close());

const HOOK = "https://a.example/hook";
const answered = (url: string, status: number | null) => {
  return { url, status, error: status === null ? "timeout" : null, durationMs: 5, answer: null };
};
const tried = (n: number, ...statuses: readonly (number | null)[]): readonly ProjectionEntry[] => {
  const urls = statuses.map((status, index) => answered(`${HOOK}/${index}`, status));
  const times = { delayMs: 10_000, dueAtMs: Date.now() + 10_000, deadlineMs: Date.now() + 20_000 };
  const outcome = statuses.includes(200) ? "delivered" : "retryable";
  const followUps = outcome === "delivered" ? [] : [{ kind: "retry" as const, urls: null, ...times, reason: null }];
  const attempt = attemptAt(n, { messageId: "m", originOffset: 1, attempt: n, outcome, urls, followUps });
  return loggedDeliveryEntries({ attempts: [attempt], deferrals: [] }, { partition: 0, offset: n });
};
const terms = { nowMs: Date.now(), isSuppressed: () => false, sentBy: new Map(), sentAgain: null };
const rows = () => table.projection.newest({ limit: 10 }).map((entry) => viewLatest(deliveryFromEntry(entry), terms));
const reported = () =>
  rows().map(({ attempts, answers, earlier }) => [attempts, answers.map(({ urls }) => urls.join("+")), earlier]);

it("a row tells what each attempt was answered, oldest first, in whatever order they are read, each once (PA2)", () => {
  for (const n of [3, 1, 2, 2, 3]) table.add(tried(n, n === 3 ? null : 503));
  expect(reported()).toEqual([[3, ["503", "503", "timeout"], 0]]);
  expect(rows()[0]?.answers.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
});

it("a row tells of an attempt at several URLs what each of them answered", () => {
  table.add(tried(1, 500, null));
  table.add(tried(2, 503, 200));
  expect(reported()).toEqual([[2, ["500+timeout", "503+200"], 0]]);
});

it("a row tells the newest eight attempts, and how many were before them (PA1)", () => {
  for (let n = 1; n <= 12; n += 1) table.add(tried(n, 500 + n));
  expect(reported()).toEqual([[12, [505, 506, 507, 508, 509, 510, 511, 512].map(String), 4]]);
});

it("a delivery that was delivered at once has no more in its entry than before (PA1)", () => {
  table.add(tried(1, 200));
  expect(table.projection.newest({ limit: 1 })[0]?.detail).not.toContain("pastAnswers");
  expect(reported()).toEqual([[1, ["200"], 0]]);
});

it("an entry of an earlier release, which has no answers of before, is read and goes on", () => {
  for (const n of [1, 2]) table.add(tried(n, 503));
  database.exec("UPDATE deliveries SET detail = json_remove(detail, '$.pastAnswers')");
  expect(reported()).toEqual([[2, ["503"], 1]]);
  table.add(tried(3, null));
  expect(reported()).toEqual([[3, ["503", "timeout"], 1]]);
});

it("a delivery whose attempts are not logged tells the last one's answer, by its dead letter", () => {
  table.add(lostDeliveryEntries(deadLetterAt(3), { partition: 0, offset: 1 }));
  expect(reported()).toEqual([[3, ["503"], 2]]);
  expect(rows()[0]?.answers).toEqual([{ attempt: 3, time: null, urls: ["503"] }]);
});
