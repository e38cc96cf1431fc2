import type { Destination } from "@posthaste/core/config/destination";
import type { AttemptRecord } from "@posthaste/core/delivery/attempt-record";
import { type Delivery, type DeliveryProgress, NO_PROGRESS } from "@posthaste/core/delivery/delivery";
import { settle } from "@posthaste/core/delivery/outcome";
import { DEFAULT_URL_HEALTH } from "@posthaste/core/isolation/url-health";
import { SILENT_LOG } from "@posthaste/core/log";
import type { Task } from "@posthaste/kafka/consumer/windowed-consumer";
import type { AttemptListener, AttemptReport } from "@posthaste/webhook/report";
import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Deliverer, type DelivererParts } from "./deliver-record.ts";
import { DueGate } from "./due-gate.ts";
import type { FollowUp } from "./follow-up.ts";
import { Isolation } from "./isolation.ts";
import { createDeliveryMetrics, type DeliveryMetrics } from "./metrics.ts";
import type { Intake } from "./pending.ts";

const DESTINATION = {
  id: "dst",
  revision: 1,
  enabled: true,
  rateLimitPerSecond: null,
  settle: "any",
  responseLog: "failures",
  missingKeyIds: null,
  urls: [
    { url: "https://a.example/", headers: {} },
    { url: "https://b.example/", headers: {} },
  ],
} as unknown as Destination;

let destination: Destination | undefined;
let tableReached: PromiseWithResolvers<void>;
let isolation: Isolation;
let deliverer: Deliverer;
let published: FollowUp[];
let attempted: (readonly string[] | null | undefined)[];
let attemptNumbers: number[];
let random: number;
let nowMs: number;
let listener: AttemptListener;
let metrics: DeliveryMetrics;
let finished: number[];
let logged: AttemptRecord[];
let errors: object[];
let failures: Error[];

/** A record of a retry topic; what is not looked at is left out. */
function retry(
  offset: number,
  republishedFrom: string,
  progress: Partial<DeliveryProgress>,
  records = 1,
): Task<Intake> {
  const delivery = {
    destinationId: "dst",
    configOffset: 0,
    messageId: "m",
    body: Buffer.alloc(0),
  } as Partial<Delivery>;
  return {
    item: { delivery, isRetry: true, turnedAway: null, republishedFrom, progress: { ...NO_PROGRESS, ...progress } },
    record: { topic: "retry-10s", partition: 0, offset },
    window: { isRevoked: false, isFull: false, records, maxRecords: 500, ownedBy: () => 1 },
    finish: () => finished.push(offset),
  } as unknown as Task<Intake>;
}

beforeEach(() => {
  vi.useFakeTimers();
  [attempted, attemptNumbers] = [[], []];
  destination = DESTINATION;
  tableReached = Promise.withResolvers();
  random = 0;
  nowMs = 1_000_000;
  published = [];
  metrics = createDeliveryMetrics(new Registry(), ["retry-10s"]);
  [finished, logged, errors, failures] = [[], [], [], []];
  isolation = new Isolation({
    settings: { ...DEFAULT_URL_HEALTH, longestWaitMs: 10_000 },
    connections: 4096,
    monotonicMs: () => nowMs,
    send: (permit) => deliverer.send(permit),
    defer: (pending, parts) => deliverer.defer(pending, parts),
    judgeAgain: (pending) => deliverer.judgeAgain(pending),
  });
  deliverer = new Deliverer({
    destinations: { appliedOffset: 0, get: () => destination, waitForOffset: () => tableReached.promise },
    sender: {
      attempt: (
        { urls, attempt }: { readonly urls?: readonly string[] | null; readonly attempt: number },
        told: AttemptListener,
      ) => {
        attempted.push(urls);
        attemptNumbers.push(attempt);
        listener = told;
      },
    },
    isolation,
    followUps: { publish: (_: unknown, followUps: readonly FollowUp[]) => published.push(...followUps) },
    dueGate: new DueGate(),
    schedule: { delaysMs: [10_000], windowMs: 60_000 },
    attemptLog: { skips: (isDelivered: boolean) => isDelivered, add: (record: AttemptRecord) => logged.push(record) },
    metrics,
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
    random: () => random,
    delayMsOf: () => 10_000,
    log: { ...SILENT_LOG, error: (fields: object) => errors.push(fields) },
    onFailure: (reason: Error) => failures.push(reason),
  } as unknown as DelivererParts);
});

afterEach(() => {
  expect(failures).toEqual([]);
  isolation.close();
  vi.useRealTimers();
});

function run(task: Task<Intake>): void {
  deliverer.run(task);
  vi.advanceTimersByTime(1);
}

/** What the URLs answered, a and b in turn. */
function answered(...statuses: readonly number[]): AttemptReport {
  const urls = statuses.map((status, at) => ({
    url: `https://${"ab"[at]}.example/`,
    outcome: status < 300 ? ("delivered" as const) : ("retryable" as const),
    ...{ status, error: null, durationMs: 1, notBeforeMs: null, answer: null },
  }));
  return { settlement: settle(destination?.settle ?? "any", urls), startedAtMs: nowMs, urls };
}

describe("an attempt", () => {
  it("C2: that was delivered finishes its record and publishes nothing", () => {
    run(retry(4, "deliveries/0/7/0", {}));
    expect(finished).toEqual([]);
    listener.onSettled(answered(503, 200));
    expect([finished, published]).toEqual([[4], []]);
  });

  it("C2: that failed leaves its record to what is published, and counts its delivery as away", () => {
    run(retry(4, "deliveries/0/7/0", {}));
    listener.onSettled(answered(503, 503));
    expect([finished, published]).toMatchObject([[], [{ kind: "retry", progress: { attempts: 1 } }]]);
    expect(isolation.awayOf("dst")).toBe(1);
  });

  it("is logged when all its requests have ended, unless the log skips it or nothing was sent", () => {
    run(retry(4, "deliveries/0/7/0", { attempts: 2 }));
    listener.onSettled(answered(503, 503));
    expect(logged).toEqual([]);
    listener.onFinished(answered(503, 503));
    expect(logged).toMatchObject([{ messageId: "m", destinationId: "dst", attempt: 3, outcome: "retryable" }]);
    run(retry(5, "deliveries/0/8/0", {}));
    listener.onFinished(answered(200, 200));
    run(retry(6, "deliveries/0/9/0", {}));
    listener.onFinished({ ...answered(503), urls: [] });
    expect(logged).toHaveLength(1);
  });

  it("V3: goes by what the destination is when its turn comes, not when it was taken in", () => {
    destination = { ...DESTINATION, rateLimitPerSecond: 1 };
    run(retry(0, "deliveries/0/7/0", {}));
    run(retry(1, "deliveries/0/8/0", {}));
    expect(attempted).toHaveLength(1);
    destination = { ...DESTINATION, enabled: false };
    nowMs += 5000;
    vi.advanceTimersByTime(1000);
    expect(attempted).toHaveLength(1);
    expect(published).toMatchObject([{ kind: "dead_letter", reason: "destination_disabled" }]);
  });

  it("is numbered from 1, those before it counted", () => {
    run(retry(0, "deliveries/0/7/0", {}));
    run(retry(1, "deliveries/0/8/0", { attempts: 2 }));
    expect(attemptNumbers).toEqual([1, 3]);
  });

  it("gives its rate back when its turn comes and it is not sent", () => {
    destination = { ...DESTINATION, rateLimitPerSecond: 1 };
    for (const offset of [0, 1]) run(retry(offset, `deliveries/0/${offset}/0`, {}));
    destination = { ...DESTINATION, rateLimitPerSecond: 1, revision: 2 };
    nowMs += 2000;
    vi.advanceTimersByTime(1000);
    expect(attempted).toHaveLength(2);
  });

  it("V3: is judged again when its destination was changed while it waited", () => {
    const task = retry(0, "deliveries/0/7/0", {});
    const { delivery, progress } = task.item;
    if (delivery === null) throw new Error("there is no delivery");
    const waited = { task, delivery, progress, isRetry: true, owed: null, destination: DESTINATION, requests: 2 };
    deliverer.judgeAgain(waited);
    expect(attempted).toEqual([null]);
    destination = undefined;
    deliverer.judgeAgain(waited);
    expect(published).toMatchObject([{ kind: "dead_letter", reason: "destination_removed" }]);
  });

  it("that cannot even be judged, for a bug, ends the process", () => {
    const task = retry(0, "deliveries/0/7/0", {});
    const broken = {
      ...task.item,
      get turnedAway(): null {
        throw new Error("a bug");
      },
    };
    run({ ...task, item: broken });
    vi.advanceTimersByTime(1000);
    expect(failures).toMatchObject([{ message: "a bug" }]);
    failures = [];
  });

  it("that throws where nobody waits ends the process", () => {
    run(retry(4, "deliveries/0/7/0", {}));
    listener.onSettled(undefined as unknown as AttemptReport);
    expect(failures).toMatchObject([{ name: "TypeError" }]);
    failures = [];
  });

  it("counts the time to the first 2xx once for a delivery, and not for what is left of one", async () => {
    destination = { ...DESTINATION, settle: "each" };
    const seen = vi.spyOn(metrics.endToEnd, "record");
    const task = retry(4, "deliveries/0/7/0", {});
    const { delivery } = task.item;
    if (delivery === null) throw new Error("there is no delivery");
    run({ ...task, item: { ...task.item, delivery: { ...delivery, receivedAtMs: nowMs - 2000 } } });
    listener.onSettled(answered(200, 503));
    expect(seen.mock.calls).toEqual([[2]]);
    run(retry(5, "deliveries/0/8/0", { urls: ["https://b.example/"] }));
    listener.onSettled(answered(200));
    expect(seen).toHaveBeenCalledTimes(1);
    // What fails takes no time, and what is left may be all.
    run(retry(6, "deliveries/0/9/0", {}));
    listener.onSettled(answered(503, 503));
    expect(seen).toHaveBeenCalledTimes(1);
    run(retry(7, "deliveries/0/10/0", { urls: ["https://a.example/", "https://b.example/"] }));
    listener.onSettled(answered(200, 503));
    expect(seen).toHaveBeenCalledTimes(2);
  });
});

describe("an attempt of several URLs", () => {
  const [a, b] = ["https://a.example/", "https://b.example/"];
  const asked = { status: 429, error: null, notBeforeMs: 1_030_000 };

  it("W5, G6: under `settle: each` defers apart the URL that asked for peace, with what became of the others", () => {
    destination = { ...DESTINATION, settle: "each" };
    run(retry(0, "deliveries/0/7/0", {}));
    listener.onOutcome(1, "retryable", asked);
    listener.onEnd(1);
    published = [];
    run(retry(1, "deliveries/0/8/0", { attempts: 2, windowStartMs: 990_000, deadlineMs: 1_050_000 }));
    expect(attempted).toEqual([null, [a]]);
    listener.onSettled(answered(200));
    expect(published).toMatchObject([
      { kind: "retry", progress: { urls: [b], attempts: 2, deferrals: 1, notBeforeMs: 1_030_000 } },
    ]);
    expect(finished).toEqual([]);
    expect(isolation.awayOf("dst")).toBe(1);
  });

  it("G6: under `settle: each` deferred in parts, tells of the URL that is the destination's no more as of one given up", () => {
    destination = { ...DESTINATION, settle: "each" };
    run(retry(0, "deliveries/0/7/0", {}));
    listener.onOutcome(0, "retryable", { ...asked, notBeforeMs: 1_020_000 });
    listener.onOutcome(1, "retryable", asked);
    const gone = "https://gone.example/";
    run(retry(1, "deliveries/0/8/0", { attempts: 2, urls: [a, b, gone] }));
    expect(published).toMatchObject([
      { kind: "retry", progress: { urls: [a], notBeforeMs: 1_020_000 } },
      { kind: "retry", progress: { urls: [b], notBeforeMs: 1_030_000 } },
      { kind: "dead_letter", reason: "destination_removed", lastAttempt: [{ url: gone }] },
    ]);
  });

  it("I5, W5: under `settle: any` leaves out the URL that asked for peace, as its own process or another one heard", () => {
    run(retry(0, "deliveries/0/7/0", { urlsNotBeforeMs: { [b]: 1_030_000, "https://gone.example/": 1_030_000 } }));
    expect(attempted).toEqual([[a]]);
    listener.onSettled(answered(503));
    expect(published).toMatchObject([
      { kind: "retry", progress: { notBeforeMs: null, urlsNotBeforeMs: { [b]: 1_030_000 } } },
    ]);
    listener.onOutcome(0, "retryable", { status: 503, error: null, notBeforeMs: 1_020_000 });
    run(retry(1, "deliveries/0/8/0", {}));
    expect([attempted.length, published.at(-1)]).toMatchObject([
      1,
      { kind: "retry", progress: { deferrals: 1, notBeforeMs: 1_020_000 } },
    ]);
  });

  it("I5, W5: under `settle: any` waits for the first of its URLs to be open again, that which it left out among them", () => {
    const report = (notBeforeMs: number): AttemptReport => {
      const url = {
        url: a,
        outcome: "retryable" as const,
        status: 429,
        error: null,
        durationMs: 1,
        notBeforeMs,
        answer: null,
      };
      return { settlement: settle("any", [url]), startedAtMs: nowMs, urls: [url] };
    };
    run(retry(0, "deliveries/0/7/0", { urlsNotBeforeMs: { [b]: 1_030_000 } }));
    expect(attempted).toEqual([[a]]);
    listener.onSettled(report(1_040_000));
    expect(published).toMatchObject([{ kind: "retry", progress: { attempts: 1, notBeforeMs: 1_030_000 } }]);
  });

  it("is not shut for longer than a window, whatever the receiver asks for", () => {
    run(retry(0, "deliveries/0/7/0", {}));
    for (const index of [0, 1]) listener.onOutcome(index, "retryable", { ...asked, notBeforeMs: 9_000_000_000 });
    nowMs += 60_000;
    run(retry(1, "deliveries/0/8/0", {}));
    expect(attempted).toEqual([null, null]);
  });
});

describe("a delivery that cannot be sent", () => {
  it("that nothing reads is counted, said and finished", async () => {
    const task = retry(4, "deliveries/0/7/0", {});
    run({ ...task, item: { ...task.item, delivery: null } });
    expect([finished, attempted]).toEqual([[4], []]);
    expect(errors).toEqual([{ event: "delivery_unreadable", topic: "retry-10s", partition: 0, offset: 4 }]);
    expect((await metrics.unreadable.get()).values).toMatchObject([{ value: 1 }]);
  });

  it("V2: for want of a secret's key is held, which is said once a destination and is no matter of its window", async () => {
    destination = { ...DESTINATION, missingKeyIds: ["k9"] };
    const over = { attempts: 1, windowStartMs: 0, deadlineMs: 1 };
    run(retry(0, "deliveries/0/7/0", over));
    run(retry(1, "deliveries/0/8/0", over));
    expect(attempted).toEqual([]);
    const held = { kind: "retry", progress: { deadlineMs: nowMs + 20_000 } };
    expect(published).toMatchObject([held, held]);
    expect(errors).toEqual([{ event: "secret_key_unknown", destinationId: "dst", missingKeyIds: ["k9"] }]);
    const counted = (await metrics.deferred.get()).values.find(({ labels }) => labels.cause === "unknown_key");
    expect([counted?.value, isolation.awayOf("dst")]).toEqual([2, 1]);
  });

  it("W6: as a second copy is finished and counted", async () => {
    run(retry(0, "deliveries/0/7/0", {}));
    run(retry(1, "deliveries/0/7/0", {}));
    expect(finished).toEqual([1]);
    const counted = (await metrics.repeats.get()).values.find(({ labels }) => labels.kind === "hand_off");
    expect(counted?.value).toBe(1);
  });
});

describe("V1: a delivery that was routed by what the table has not read yet", () => {
  const early = (): Task<Intake> => {
    const task = retry(0, "deliveries/0/7/0", {});
    const { delivery } = task.item;
    if (delivery === null) throw new Error("there is no delivery");
    return { ...task, item: { ...task.item, isRetry: false, delivery: { ...delivery, configOffset: 7 } } };
  };

  it("is not judged before that was read: a destination that is new there is no removed one", async () => {
    destination = undefined;
    run(early());
    await vi.advanceTimersByTimeAsync(0);
    expect([attempted, published]).toEqual([[], []]);
    destination = DESTINATION;
    tableReached.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect([attempted, published]).toEqual([[null], []]);
  });

  it("stays in its window when the process ends before", async () => {
    run(early());
    deliverer.close();
    tableReached.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect([attempted, published]).toEqual([[], []]);
  });
});

describe("before it is attempted", () => {
  it("W6: a fresh delivery waits for no jitter", () => {
    random = 0.9;
    const task = retry(0, "", {});
    run({ ...task, item: { ...task.item, isRetry: false, republishedFrom: undefined } });
    expect(attempted).toHaveLength(1);
  });

  it("V4: what waits for its jitter when the process ends, or when its partition is given up, is left to the next owner", () => {
    random = 0.9;
    const given = { ...retry(0, "deliveries/0/7/0", {}) };
    run(given);
    Object.assign(given.window, { isRevoked: true });
    vi.advanceTimersByTime(1000);
    run(retry(1, "deliveries/0/8/0", {}));
    deliverer.close();
    vi.advanceTimersByTime(1000);
    expect([attempted, published, finished]).toEqual([[], [], []]);
  });

  it("W5: what a receiver asked to wait for is sent from that moment on, and not before", () => {
    run(retry(0, "deliveries/0/7/0", { notBeforeMs: nowMs + 1 }));
    expect([attempted.length, published.length]).toEqual([0, 1]);
    run(retry(1, "deliveries/0/8/0", { notBeforeMs: nowMs }));
    expect([attempted.length, published.length]).toEqual([1, 1]);
  });

  it("a destination without URLs is as one that is switched off", () => {
    destination = { ...DESTINATION, urls: [] };
    run(retry(0, "deliveries/0/7/0", {}));
    expect(published).toMatchObject([{ kind: "dead_letter", reason: "destination_disabled" }]);
  });
});

describe("a retry", () => {
  it("W6: is dropped as a second copy of its republished record", () => {
    run(retry(0, "deliveries/0/7/0", {}));
    run(retry(1, "deliveries/0/7/0", {}));
    expect(attempted).toEqual([null]);
  });

  it("W6: is no second copy where nothing says what it was republished from", () => {
    for (const offset of [0, 1]) {
      const task = retry(offset, "", {});
      run({ ...task, item: { ...task.item, republishedFrom: undefined } });
    }
    expect([attempted.length, finished]).toEqual([2, []]);
  });

  it("W6: is no second copy when it serves other URLs: the attempt that was repeated failed elsewhere", () => {
    run(retry(0, "deliveries/0/7/0", { urls: ["https://a.example/"] }));
    run(retry(1, "deliveries/0/7/0", { urls: ["https://b.example/"] }));
    expect(attempted).toEqual([["https://a.example/"], ["https://b.example/"]]);
  });

  it("W6: waits for its jitter, but not in a window that is full, where others would wait behind it", () => {
    random = 0.9;
    run(retry(0, "deliveries/0/7/0", {}));
    expect(attempted).toHaveLength(0);
    run(retry(1, "deliveries/0/8/0", {}, 500));
    expect(attempted).toHaveLength(1);
    vi.advanceTimersByTime(900);
    expect(attempted).toHaveLength(2);
  });

  it("I1: is deferred and never attempted when it was turned away, for it did not take its turn", () => {
    const task = retry(0, "deliveries/0/7/0", {});
    run({ ...task, item: { ...task.item, turnedAway: "window_full" } });
    expect(attempted).toEqual([]);
    expect(published).toMatchObject([{ kind: "retry", delayMs: 10_000, progress: { deferrals: 1 } }]);
  });

  it("C4: is neither deferred nor attempted when its partition was given up", () => {
    const task = retry(0, "deliveries/0/7/0", { notBeforeMs: 1_050_000 });
    const lost = { ...task, window: { ...task.window, isRevoked: true } };
    const { delivery, progress } = task.item;
    if (delivery === null) throw new Error("there is no delivery");
    const destination = DESTINATION;
    const pending = { task: lost, delivery, progress, isRetry: true, owed: null, destination, requests: 2 };
    const parts = [{ urls: [], cause: "concurrency_limit" as const, notBeforeMs: null }];
    deliverer.defer(pending, parts);
    expect([attempted, published]).toEqual([[], []]);
    deliverer.defer({ ...pending, task }, parts);
    expect(published).toMatchObject([{ kind: "retry" }]);
  });

  it("becomes a dead letter when the destination has none of its URLs any more", () => {
    destination = { ...DESTINATION, settle: "each" };
    run(retry(0, "deliveries/0/7/0", { urls: ["https://was.example/"] }));
    expect(attempted).toEqual([]);
    const lastAttempt = [{ url: "https://was.example/", status: null, error: "url_removed", durationMs: 0 }];
    expect(published).toMatchObject([{ kind: "dead_letter", reason: "destination_removed", lastAttempt }]);
  });

  it.each<[string, Destination | undefined, string]>([
    ["whose destination was removed", undefined, "destination_removed"],
    ["whose destination was switched off", { ...DESTINATION, enabled: false }, "destination_disabled"],
    ["whose window is over", { ...DESTINATION, settle: "each" }, "window_expired"],
  ])("%s names in its dead letter the URLs that it owes, all of which are none", (_, now, reason) => {
    destination = now;
    const progress = { attempts: 1, windowStartMs: 0, deadlineMs: 1 };
    run(retry(0, "deliveries/0/7/0", { ...progress, urls: ["https://b.example/"] }));
    run(retry(1, "deliveries/0/8/0", progress));
    const lastAttempt = [{ url: "https://b.example/", status: null, error: "not_attempted", durationMs: 0 }];
    expect(published).toMatchObject([
      { reason, lastAttempt },
      { reason, lastAttempt: [] },
    ]);
  });

  it("V5: is dead and not attempted when its window is over, wherever it waited", () => {
    const progress = { attempts: 3, windowStartMs: 940_000, deadlineMs: 1_000_000 };
    run(retry(0, "deliveries/0/7/0", progress));
    expect([attempted, published]).toMatchObject([[], [{ kind: "dead_letter", reason: "window_expired", progress }]]);
  });

  it("V5: is dead when its window ended while it waited for its destination's room", () => {
    destination = { ...DESTINATION, rateLimitPerSecond: 1 };
    run(retry(0, "deliveries/0/7/0", {}));
    run(retry(1, "deliveries/0/8/0", { attempts: 1, windowStartMs: 0, deadlineMs: nowMs + 500 }));
    expect([attempted.length, published]).toEqual([1, []]);
    nowMs += 5000;
    vi.advanceTimersByTime(1000);
    expect(attempted).toHaveLength(1);
    expect(published).toMatchObject([{ kind: "dead_letter", reason: "window_expired", progress: { attempts: 1 } }]);
  });

  it("V5: its jitter does not outlast its window", () => {
    random = 0.9;
    run(retry(0, "deliveries/0/7/0", { attempts: 1, windowStartMs: 0, deadlineMs: nowMs + 5 }));
    vi.advanceTimersByTime(4);
    expect([attempted, published]).toEqual([[null], []]);
  });

  it("I3: has its last attempt after its window too when it was never attempted", () => {
    run(retry(0, "deliveries/0/7/0", { deferrals: 9, windowStartMs: 0, deadlineMs: nowMs - 5000 }));
    expect([attempted, published]).toEqual([[null], []]);
  });

  it("W5: is tried once more before its window ends when its receiver asked for longer, though its gate is shut", () => {
    run(retry(0, "deliveries/0/7/0", {}));
    const asked = { outcome: "retryable" as const, notBeforeMs: nowMs + 3_600_000 };
    const url = { url: "https://a.example/", status: 503, error: null, durationMs: 1, answer: null, ...asked };
    const report = { settlement: settle("any", [url]), startedAtMs: nowMs, urls: [url] };
    listener.onSettled(report);
    for (let offset = 1; attempted.length === 1; offset++) {
      const plan = published.at(-1);
      if (plan?.kind !== "retry") throw new Error(`it is ${plan?.kind} after ${offset} records`);
      nowMs += plan.delayMs + 20;
      run(retry(offset, `retry-10s/0/${offset}/0`, plan.progress));
    }
    expect(nowMs).toBeGreaterThanOrEqual(1_040_000);
    expect(nowMs).toBeLessThan(1_060_000);
    listener.onSettled(report);
    expect(published.at(-1)).toMatchObject({
      kind: "dead_letter",
      reason: "window_expired",
      progress: { attempts: 2 },
    });
  });

  it("J5, W5: is still owed its last try when that waited for the rate and the reserve was used up meanwhile", () => {
    destination = { ...DESTINATION, rateLimitPerSecond: 100 };
    run(retry(0, "deliveries/0/7/0", {}));
    for (const index of [0, 1]) {
      listener.onOutcome(index, "retryable", { status: 503, error: null, notBeforeMs: nowMs + 3_600_000 });
    }
    const progress = { attempts: 1, windowStartMs: nowMs - 55_000, deadlineMs: nowMs + 5000 };
    for (let offset = 1; offset <= 40; offset++) run(retry(offset, `retry-10s/0/${offset}/0`, progress));
    for (let ticks = 0; ticks < 100; ticks++) {
      nowMs += 20;
      vi.advanceTimersByTime(20);
    }
    expect([attempted.length, new Set(published.map(({ kind }) => kind))]).toEqual([1 + 16, new Set(["retry"])]);
    expect(published).toHaveLength(40 - 16);
  });

  it("I2: counts once among those that wait, however often it is deferred until its not-before", () => {
    isolation.wentAway("dst");
    for (let offset = 0; offset < 5; offset++) {
      run(retry(offset, `retry-10s/0/${offset}/0`, { notBeforeMs: 1_050_000 }));
    }
    expect(isolation.awayOf("dst")).toBe(1);
  });
});
