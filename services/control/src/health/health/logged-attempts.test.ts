/** Rule: HB6 of health-book.ts, for attempts from before control's start. */
import { processHealthKey } from "@posthaste/contracts/health-keys";
import { SILENT_LOG } from "@posthaste/core/log";
import { attemptEntries } from "@posthaste/read-model/attempt-entry";
import type { LastAttempts } from "@posthaste/read-model/last-attempts";
import { attemptAt } from "@posthaste/testbed/log-writer";
import { expect, it } from "vitest";
import { PROCESS } from "../../../test/health-writer.ts";
import { HealthBook } from "./health-book.ts";
import { LoggedAttempts } from "./logged-attempts.ts";

const URL_A = "https://a.example/hook";
const NOW_MS = 1_800_000_000_000;

function failedEntry(startedAtMs: number, status: number) {
  const urls = [{ url: URL_A, status, error: null, durationMs: 20, answer: null }];
  const attempt = { ...attemptAt(1, { destinationId: "dst_1", outcome: "retryable", urls }), startedAtMs };
  const [entry] = attemptEntries({ attempts: [attempt] }, { partition: 0, offset: 1 });
  if (entry === undefined) throw new Error("an attempt has an entry");
  return entry;
}

function start(logged: { isComplete: boolean; fails?: boolean }) {
  const asked: string[][] = [];
  const book = new HealthBook({ nowMs: () => NOW_MS, readToEndMs: () => NOW_MS - 1000 });
  const attempts = new LoggedAttempts({
    readModel: {
      isComplete: () => logged.isComplete,
      lastAttempts: async (ids) => {
        asked.push([...ids]);
        if (logged.fails === true) throw new Error("the delivery log cannot be asked");
        return ids.map((destinationId): LastAttempts => {
          const [failed, firstFailed] = [failedEntry(NOW_MS - 100, 500), failedEntry(NOW_MS - 900, 503)];
          const known = destinationId === "dst_1" ? { failed, firstFailed } : { failed: null, firstFailed: null };
          return { destinationId, delivered: null, recovered: null, ...known };
        });
      },
    },
    book,
    destinations: () => Array.from({ length: 250 }, (_, index) => ({ id: `dst_${index}` })),
    log: SILENT_LOG,
  });
  return { book, attempts, asked };
}

it("the log tells the newest attempt, since when all fail, and the URL's last answer", async () => {
  const { book, attempts } = start({ isComplete: true });
  await attempts.read();
  expect(book.past("dst_1")).toMatchObject({
    ...{ deliveredAtMs: null, failedAtMs: NOW_MS - 80, failingSinceMs: NOW_MS - 880, recoveredAtMs: null },
    urls: [{ url: URL_A, breaker: "closed", answer: { atMs: NOW_MS - 80, outcome: "retryable", status: 500 } }],
  });
  expect(book.past("dst_2")).toMatchObject({ failedAtMs: null, urls: [] });
});

it("each destination is asked for once, some hundred at a time, when the log is read and can be asked", async () => {
  const log = { isComplete: false, fails: true };
  const { attempts, asked } = start(log);
  await attempts.read();
  expect([attempts.isRead, asked.length]).toEqual([false, 0]);
  log.isComplete = true;
  await attempts.read();
  expect([attempts.isRead, asked.length]).toEqual([false, 1]);
  log.fails = false;
  await Promise.all([attempts.read(), attempts.read()]);
  await attempts.read();
  expect([attempts.isRead, asked.slice(1).map(({ length }) => length)]).toEqual([true, [200, 50]]);
});

it("a log of which delivery leaves out successes is not asked, since it would tell failures that are over", async () => {
  const { book, attempts, asked } = start({ isComplete: true });
  const process = { ...PROCESS, loggedShare: 0.5 };
  const of = { instance: "one", destinationId: null, destination: null, process };
  book.apply(processHealthKey("one"), { ...of, writtenAtMs: NOW_MS - 1 });
  await attempts.read();
  expect([attempts.isRead, asked]).toEqual([true, []]);
});
