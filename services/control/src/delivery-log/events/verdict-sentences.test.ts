import { createTopicNames } from "@posthaste/contracts/topics";
import type { DeferredCause } from "@posthaste/core/delivery/deferred-cause";
import type { DeliveryVerdict } from "@posthaste/core/verdict/verdict";
import { expect, it } from "vitest";
import { NO_HEALTH, urlHealth } from "../../../test/health-writer.ts";
import { liveDeliveryState } from "./live-delivery-state.ts";
import { statusAndCode, tellDelivery, tellRefused, tellRejected } from "./verdict-sentences.ts";

const NOON_MS = Date.parse("2026-11-21T12:00:00Z");
const MINUTE_MS = 60_000;
const HOOK = "https://a.example/hook";
const names = { source: (id: string) => `source ${id}`, destination: (id: string) => `destination ${id}` };
/** A destination with two URLs, whose breakers are open and which asked for some rest. */
const urls = [10, 5].map((minutes) =>
  urlHealth(`${HOOK}/${minutes}`, {
    nextProbeMs: NOON_MS + minutes * MINUTE_MS,
    notBeforeMs: NOON_MS + minutes * MINUTE_MS,
  }),
);
const old = { retryDelaysMs: [1000] };
const seen = {
  processes: () => [old, { retryDelaysMs: [10_000, 30_000, MINUTE_MS] }],
  of: () => [{ ...NO_HEALTH, urls }],
};
const silent = { processes: () => [], of: () => [] };

function sentenceOf(verdict: DeliveryVerdict, health: Parameters<typeof liveDeliveryState>[1] = seen): string {
  const beside = liveDeliveryState(createTopicNames("posthaste"), health);
  const delivery = { messageId: "m", destinationId: "dst_1", nowMs: NOON_MS, beside, stoppedBy: undefined };
  return tellDelivery(verdict, delivery, names).sentence;
}

it("a delivery that arrived says when, where, in how many milliseconds and by how many tries", () => {
  const took = { atMs: NOON_MS, url: HOOK, durationMs: 41.3, tries: 2, others: [] };
  const reported = `Delivered to destination dst_1 at 2026-11-21T12:00:00.000Z by ${HOOK} in 41 ms`;
  expect(sentenceOf({ ...took, cause: "delivered" })).toBe(`${reported}, 2 tries.`);
  const others = [{ url: "https://b.example/", status: 500, error: null }];
  expect(sentenceOf({ ...took, cause: "delivered_elsewhere", others })).toBe(
    `${reported}; of its other URLs https://b.example/ answered 500.`,
  );
});

type Verdict<Cause extends string> = Extract<DeliveryVerdict, { readonly cause: Cause }>;

const WAITING: Verdict<"waiting_retry"> = {
  cause: "waiting_retry",
  ...{ dueAtMs: NOON_MS + 10_000, delayMs: 10_000, deadlineMs: NOON_MS + 60 * MINUTE_MS },
  ...{ tries: 1, urls: null, last: [{ url: HOOK, status: 503, error: null }] },
};
const ANSWERED = `Not delivered to destination dst_1 yet: ${HOOK} answered 503;`;
const LAST = "last possible 2026-11-21T13:00:00.000Z";

it.each([
  [
    "says its topic, when, how many tries are left by the newest process's schedule, and the last moment",
    {},
    `next try 2026-11-21T12:00:10.000Z, it waits in posthaste.deliveries.retry-10s, 3 tries left at the most, ${LAST}.`,
  ],
  [
    "says so of the last one",
    { tries: 3, delayMs: MINUTE_MS, dueAtMs: NOON_MS - 1 },
    `its next try was due 2026-11-21T11:59:59.999Z, it waits in posthaste.deliveries.retry-1m, the last one, ${LAST}.`,
  ],
  [
    "says what is known where its topic and its end are not",
    { delayMs: 0, deadlineMs: null },
    "next try 2026-11-21T12:00:10.000Z, 3 tries left at the most.",
  ],
])("a delivery that waits for a retry %s", (_, differing, reported) => {
  expect(sentenceOf({ ...WAITING, ...differing })).toBe(`${ANSWERED} ${reported}`);
});

it("a delivery that waits for a retry says no number of tries where no delivery process tells its schedule", () => {
  expect(sentenceOf(WAITING, silent)).toMatch(/retry-10s, last possible/);
});

it("a delivery that waits says which of its URLs was given up, and where its dead letter is", () => {
  const [one, two] = ["https://a.example/hook", "https://b.example/hook"];
  expect(sentenceOf({ ...WAITING, givenUp: { urls: [one, two], place: "0:4" } })).toMatch(
    /\. Given up for https:\/\/a\.example\/hook and https:\/\/b\.example\/hook, as dead letter 0:4\.$/,
  );
  expect(sentenceOf({ ...WAITING, givenUp: { urls: [], place: null } })).toMatch(/\. Given up for another URL\.$/);
});

const ENDS: Readonly<Record<DeferredCause, [reported: RegExp, nothingReported: RegExp]>> = {
  breaker_open: [/until a probe is answered \(the next 2026-11-21T12:05:00\.000Z\);/, /until a probe is answered;/],
  concurrency_limit: [/until some of them end;/, /until some of them end;/],
  window_full: [/until some of them are done;/, /until some of them are done;/],
  retry_after: [/for a while, until 2026-11-21T12:10:00\.000Z;/, /for a while;/],
  unknown_key: [/until its POSTHASTE_SECRET_KEYS has the key again;/, /has the key again;/],
};

it.each(Object.entries(ENDS))(
  "a delivery that is deferred by %s says what ends that",
  (cause, [reported, nothingReported]) => {
    const verdict: DeliveryVerdict = {
      ...{ cause: "deferred", deferredCause: cause as DeferredCause, sinceMs: NOON_MS, dueAtMs: NOON_MS + 1 },
      ...{ deadlineMs: null, tries: 0 },
    };
    expect(sentenceOf(verdict)).toMatch(reported);
    expect(sentenceOf(verdict, silent)).toMatch(nothingReported);
    expect(sentenceOf(verdict)).toMatch(/^Not delivered to destination dst_1 yet: deferred since 2026-11-21T12:00:00/);
    expect(sentenceOf(verdict)).toMatch(/; looked at again 2026-11-21T12:00:00\.001Z\.$/);
  },
);

const DEAD: Verdict<"dead_letter"> = {
  cause: "dead_letter",
  ...{ atMs: NOON_MS, reason: "rejected_by_receiver", reasonClass: "configuration", tries: 1 },
  ...{ last: [{ url: HOOK, status: 401, error: null }], place: "0:3" },
};
const GIVEN_UP =
  "Not delivered to destination dst_1: given up at 2026-11-21T12:00:00.000Z after 1 try, rejected by receiver";

it("a dead letter says its reason, its class and what helps", () => {
  expect(sentenceOf(DEAD)).toBe(
    `${GIVEN_UP} (configuration; ${HOOK} answered 401); check the secret and the headers of the destination, then replay.`,
  );
  expect(sentenceOf({ ...DEAD, last: [{ url: HOOK, status: 404, error: null }] })).toMatch(/; check the URL/);
  expect(sentenceOf({ ...DEAD, place: null })).toMatch(/ answered 401\); its dead letter was purged\.$/);
  expect(sentenceOf({ ...DEAD, place: null, reasonClass: null })).toBe(`${GIVEN_UP} (${HOOK} answered 401).`);
});

const REJECTED = {
  ...{ sourceId: "src_1", rejectedAtMs: NOON_MS, message: "Say whose it is.", index: 0, single: true },
  ...{ messageId: "m", userKey: null, event: null, code: "missing_user" },
};

it.each([
  ["answered 400 missing_user", {}, "400 missing_user"],
  ["answered 413 call_too_large", { code: "call_too_large" }, "413 call_too_large"],
])("a call that was refused by itself says that ingest %s, and what to change", (answered, differing, reported) => {
  const rejected = { ...REJECTED, ...differing };
  expect(tellRejected(rejected)).toEqual({
    sentence: `Not accepted: ingest ${answered}. Say whose it is.`,
    command: "posthaste sources calls src_1",
  });
  expect(statusAndCode(rejected)).toBe(reported);
});

it("a call whose status is not known is told of without one", () => {
  for (const differing of [{ single: null }, { code: "of_tomorrow" }]) {
    const rejected = { ...REJECTED, ...differing };
    expect(tellRejected(rejected).sentence).toBe(`Not accepted: ${rejected.code}. Say whose it is.`);
    expect(statusAndCode(rejected)).toBe(rejected.code);
  }
  const ofBatch = { ...REJECTED, single: false, index: 3 };
  expect(tellRejected(ofBatch).sentence).toBe("Not accepted as call 3 of its batch: missing_user. Say whose it is.");
  expect(statusAndCode(ofBatch)).toBe("missing_user");
});

const REFUSED = {
  ...{ sourceId: "src_1", atMs: NOON_MS, path: "/v1/batch", bytes: 7, userAgent: null, messageIds: [] },
  ...{ unknownKey: null },
};

it.each([
  [401, "source_disabled", /The source is switched off/, "posthaste sources update src_1 --enabled"],
  [401, "missing_write_key", /Send the source's write key/, "posthaste sources list"],
  [429, "rate_limited", /The source sends more than it may/, null],
])("a request that was answered %i %s says what to change of that", (status, code, says, command) => {
  const reported = tellRefused({ ...REFUSED, status, code }, names);
  expect(reported.sentence).toMatch(
    new RegExp(`of source src_1 was answered ${status} ${code} at 2026-11-21T12:00:00`),
  );
  expect(reported.sentence).toMatch(says);
  expect(reported.command).toBe(command);
});
