/** The joined stages of delivery over a table, a sender, a publisher and an attempt log that the test sees. */
import type { Destination } from "@posthaste/core/config/destination";
import type { AttemptRecord, DeferralRecord } from "@posthaste/core/delivery/attempt-record";
import { type Delivery, type DeliveryProgress, NO_PROGRESS } from "@posthaste/core/delivery/delivery";
import { settle } from "@posthaste/core/delivery/outcome";
import type { PosthasteError } from "@posthaste/core/errors";
import { DEFAULT_URL_HEALTH } from "@posthaste/core/isolation/url-health";
import { SILENT_LOG } from "@posthaste/core/log";
import type { Task } from "@posthaste/kafka/consumer/windowed-consumer";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import type { AttemptListener, AttemptReport } from "@posthaste/webhook/report";
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, vi } from "vitest";
import type { IncomingDelivery } from "../src/intake/incoming-delivery.ts";
import { createDeliveryMetrics } from "../src/metrics.ts";
import type { FollowUp } from "../src/outcome/follow-ups.ts";
import { createPipeline, type Pipeline, type PipelineOptions } from "../src/pipeline.ts";

/** Two URLs, a and b. */
export const DESTINATION = {
  id: "dst",
  revision: 1,
  enabled: true,
  rateLimitPerSecond: null,
  settle: "any",
  responseLog: "failures",
  payload: "documented",
  missingKeyIds: null,
  urls: [
    { url: "https://a.example/", headers: {} },
    { url: "https://b.example/", headers: {} },
  ],
} as unknown as Destination;

/** The suppressed users, and whether the set is current. */
export class ObservedSuppressions extends Set<string> {
  isCurrent = true;
  #waiting: (() => void)[] = [];

  whenCurrent(goOn: () => void): void {
    if (this.isCurrent) goOn();
    else this.#waiting.push(goOn);
  }

  becomeCurrent(): void {
    this.isCurrent = true;
    for (const goOn of this.#waiting.splice(0)) goOn();
  }
}

/** Owns vitest's fake timers until `end`. */
export class ObservedPipeline {
  /** The entry of the table; undefined for a destination that was removed. */
  destination: Destination | undefined = DESTINATION;
  readonly tableReached = Promise.withResolvers<void>();
  readonly suppressions = new ObservedSuppressions();
  random = 0;
  nowMs = 1_000_000;
  published: FollowUp[] = [];
  /** The URLs of each attempt; null for all. */
  readonly attempted: (readonly string[] | null | undefined)[] = [];
  readonly attemptNumbers: number[] = [];
  /** Offsets of the records that were finished. */
  readonly finished: number[] = [];
  readonly logged: AttemptRecord[] = [];
  readonly loggedDeferrals: DeferralRecord[] = [];
  readonly attemptLog = {
    skips: (isDelivered: boolean, follows: boolean) => isDelivered && !follows,
    add: (record: AttemptRecord) => this.logged.push(record),
    addDeferral: (record: DeferralRecord) => this.loggedDeferrals.push(record),
    skipsDeferrals: false,
  };
  readonly errors: object[] = [];
  /** Records that were quarantined, each with the functions that acknowledge or refuse it. */
  readonly quarantined: {
    readonly offset: number;
    readonly error: PosthasteError;
    readonly acknowledge: () => void;
    readonly refuse: (reason: Error) => void;
  }[] = [];
  failures: Error[] = [];
  readonly registry = new Registry();
  readonly metrics = createDeliveryMetrics(this.registry, ["retry-10s"]);
  readonly pipeline: Pipeline;
  #listener: AttemptListener | undefined;

  constructor() {
    vi.useFakeTimers();
    this.pipeline = createPipeline({
      destinations: {
        appliedOffset: 0,
        get: () => this.destination,
        waitForOffset: () => this.tableReached.promise,
      },
      suppressed: this.suppressions,
      sender: {
        maxConnections: 4096,
        attempt: (
          { urls, attempt }: { readonly urls?: readonly string[] | null; readonly attempt: number },
          reported: AttemptListener,
        ) => {
          this.attempted.push(urls);
          this.attemptNumbers.push(attempt);
          this.#listener = reported;
        },
      },
      publisher: { publish: (_: unknown, followUps: readonly FollowUp[]) => this.published.push(...followUps) },
      attemptLog: this.attemptLog,
      unreadable: {
        put: ({ offset }: IncomingRecord, error: PosthasteError) =>
          new Promise<void>((acknowledge, refuse) => this.quarantined.push({ offset, error, acknowledge, refuse })),
      },
      schedule: { delaysMs: [10_000], windowMs: 60_000 },
      health: DEFAULT_URL_HEALTH,
      metrics: this.metrics,
      clock: { nowMs: () => this.nowMs, monotonicMs: () => this.nowMs },
      random: () => this.random,
      delayMsOf: (topic: string) => (topic === "retry-10s" ? 10_000 : 0),
      log: { ...SILENT_LOG, error: (fields: object) => this.errors.push(fields) },
      onFailure: (reason: Error) => this.failures.push(reason),
    } as unknown as PipelineOptions);
  }

  /** The listener of the newest attempt. */
  get listener(): AttemptListener {
    if (this.#listener === undefined) throw new Error("nothing was sent");
    return this.#listener;
  }

  /** A record of a retry topic; the fields that no stage looks at are left out. */
  retry(
    offset: number,
    republishedFrom: string,
    progress: Partial<DeliveryProgress>,
    records = 1,
  ): Task<IncomingDelivery> {
    const delivery = {
      destinationId: "dst",
      configOffset: 0,
      messageId: "m",
      body: Buffer.alloc(0),
    } as Partial<Delivery>;
    return {
      item: {
        delivery,
        isRetry: true,
        deferralOnArrival: null,
        republishedFrom,
        progress: { ...NO_PROGRESS, ...progress },
      },
      record: { topic: "retry-10s", partition: 0, offset, timestampMs: 990_000, key: Buffer.from("dst:user-1") },
      window: { isRevoked: false, isFull: false, records, maxRecords: 500, ownedBy: () => 1 },
      finish: () => this.finished.push(offset),
    } as unknown as Task<IncomingDelivery>;
  }

  run(task: Task<IncomingDelivery>): void {
    this.pipeline.intake.run(task);
    vi.advanceTimersByTime(1);
  }

  /** Lets so much time pass, on the timers. */
  pass(ms: number): void {
    vi.advanceTimersByTime(ms);
  }

  /** The answers of the URLs, a and b in turn. */
  answered(...statuses: readonly number[]): AttemptReport {
    const urls = statuses.map((status, at) => ({
      url: `https://${"ab"[at]}.example/`,
      outcome: status < 300 ? ("delivered" as const) : ("retryable" as const),
      ...{ status, error: null, durationMs: 1, notBeforeMs: null, answer: null },
    }));
    return { settlement: settle(this.destination?.settle ?? "any", urls), startedAtMs: this.nowMs, urls };
  }

  end(): void {
    this.pipeline.close();
    vi.useRealTimers();
  }
}

/** The delivery of a record that has one. */
export function deliveryOf(task: Task<IncomingDelivery>): Delivery {
  const { delivery } = task.item;
  if (delivery === null) throw new Error("there is no delivery");
  return delivery;
}

/** The pipeline of the running test. */
export let observed: ObservedPipeline;

/** To be called at the top of a test file: each of its tests has a pipeline of its own, and leaves no failure in it. */
export function observePipeline(): void {
  beforeEach(() => {
    observed = new ObservedPipeline();
  });
  afterEach(() => {
    expect(observed.failures).toEqual([]);
    observed.end();
  });
}
