/**
 * One delivery process in simulated time: its real stages from intake to outcome, over windows, retry topics and
 * receivers that are simulated, so that an hour takes seconds.
 *
 * Owns: the simulated clock, and every timer of the process through vitest's fake timers; `end` gives them back.
 */

import type { Destination } from "@posthaste/core/config/destination";
import { type Delivery, NO_PROGRESS } from "@posthaste/core/delivery/delivery";
import { classifyError, classifyStatus, DELIVERED, obeysRetryAfter, settle } from "@posthaste/core/delivery/outcome";
import { parseRetryAfter } from "@posthaste/core/delivery/retry-after";
import { DEFAULT_URL_HEALTH } from "@posthaste/core/isolation/url-health";
import { SILENT_LOG } from "@posthaste/core/log";
import { type LaneMember, Lanes } from "@posthaste/core/window/lanes";
import type { AttemptListener, UrlResult } from "@posthaste/webhook/report";
import type { AttemptRequest } from "@posthaste/webhook/sender";
import { Registry } from "prom-client";
import { vi } from "vitest";
import type { IncomingDelivery } from "../src/intake/incoming-delivery.ts";
import { createDeliveryMetrics } from "../src/metrics.ts";
import type { FollowUp } from "../src/outcome/follow-ups.ts";
import { createPipeline, type Pipeline, type PipelineOptions } from "../src/pipeline.ts";

/** A receiver's treatment of a request: a status after so many ms, with a `Retry-After` perhaps, or nothing at all. */
export type Answer = { readonly status: number; readonly afterMs: number; readonly retryAfter?: string } | "hangs";
export type AnswerOf = (url: string, nowMs: number) => Answer;

export interface SimulationOptions {
  readonly destinations: readonly Destination[];
  readonly answerOf: AnswerOf;
  readonly delaysMs: readonly number[];
  readonly windowRecords: number;
  readonly partitions: number;
}

/** A request that was answered 2xx; ms since the start. */
export interface Served {
  readonly url: string;
  readonly messageId: string;
  readonly servedAtMs: number;
}

const NO_BODY = new Uint8Array();
const TIMEOUT_MS = 5000;
const STEP_MS = 10;

/** Something that happens later; ties go by the order of scheduling. */
interface Later {
  readonly atMs: number;
  readonly act: () => void;
}

class SimulatedTask implements LaneMember<SimulatedTask> {
  readonly item: IncomingDelivery;
  readonly record: { readonly topic: string; readonly partition: number; readonly offset: number; readonly key: null };
  readonly window: SimulatedWindow;
  readonly lane: string;
  nextInLane: SimulatedTask | undefined;
  nextInBucket: SimulatedTask | undefined;
  #finished = false;

  constructor(window: SimulatedWindow, item: IncomingDelivery, offset: number, lane: string) {
    this.window = window;
    this.item = item;
    this.record = { topic: window.topic, partition: window.partition, offset, key: null };
    this.lane = lane;
  }

  finish(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.window.finished(this);
  }
}

/** Takes records in until it is full; they run in order within a key, and finish in any order. */
class SimulatedWindow {
  readonly isRevoked = false;
  readonly topic: string;
  readonly partition: number;
  readonly maxRecords: number;
  readonly #run: (task: SimulatedTask) => void;
  readonly #lanes = new Lanes<SimulatedTask>(1);
  readonly #ownedBy = new Map<string, number>();
  readonly #behind: (() => SimulatedTask)[] = [];
  #firstBehind = 0;
  records = 0;

  constructor(topic: string, partition: number, maxRecords: number, run: (task: SimulatedTask) => void) {
    this.topic = topic;
    this.partition = partition;
    this.maxRecords = maxRecords;
    this.#run = run;
  }

  get isFull(): boolean {
    return this.records >= this.maxRecords;
  }

  ownedBy(owner: string): number {
    return this.#ownedBy.get(owner) ?? 0;
  }

  arrive(make: () => SimulatedTask): void {
    this.#behind.push(make);
    this.#takeIn();
  }

  finished(task: SimulatedTask): void {
    this.records -= 1;
    this.#count(task, -1);
    const next = this.#lanes.finish(task);
    if (next !== undefined) this.#run(next);
    this.#takeIn();
  }

  #takeIn(): void {
    while (!this.isFull && this.#firstBehind < this.#behind.length) {
      const task = this.#behind[this.#firstBehind]?.();
      this.#firstBehind += 1;
      if (task === undefined) continue;
      this.records += 1;
      this.#count(task, 1);
      if (this.#lanes.add(task)) this.#run(task);
    }
    if (this.#firstBehind < this.#behind.length) return;
    this.#behind.length = 0;
    this.#firstBehind = 0;
  }

  #count({ item }: SimulatedTask, by: number): void {
    const owner = item.delivery?.destinationId ?? "";
    this.#ownedBy.set(owner, this.ownedBy(owner) + by);
  }
}

export class SimulatedDelivery {
  /** Told of each request that was answered 2xx; not kept, since an hour has millions. */
  onServed: (served: Served) => void = () => {};
  /** Follow-ups by kind. */
  readonly followUps = { retry: 0, dead_letter: 0 };
  /** Requests by URL, whatever came of them. */
  readonly requests = new Map<string, number>();
  readonly #options: SimulationOptions;
  readonly #later = new Map<number, Later[]>();
  readonly #windows: readonly SimulatedWindow[];
  readonly #retryWindows: readonly SimulatedWindow[];
  readonly #pipeline: Pipeline;
  readonly #startedMs = 1_000_000_000;
  #nowMs = this.#startedMs;
  #offsets = 0;

  constructor(options: SimulationOptions) {
    vi.useFakeTimers();
    this.#options = options;
    const { destinations, delaysMs, windowRecords, partitions } = options;
    const schedule = { delaysMs, windowMs: 4 * 3_600_000 };
    this.#pipeline = createPipeline({
      destinations: { appliedOffset: 0, get: (id: string) => destinations.find((each) => each.id === id) },
      suppressed: { size: 0, isCurrent: true },
      sender: {
        maxConnections: 4096,
        attempt: (request: AttemptRequest, listener: AttemptListener) => this.#attempt(request, listener),
      },
      publisher: { publish: (task: SimulatedTask, all: readonly FollowUp[]) => this.#publish(task, all) },
      attemptLog: { skips: () => true, skipsDeferrals: true },
      schedule,
      health: DEFAULT_URL_HEALTH,
      metrics: createDeliveryMetrics(new Registry(), []),
      clock: { nowMs: () => this.#nowMs, monotonicMs: () => this.#nowMs },
      random: () => 0.5,
      delayMsOf: () => Math.min(...delaysMs),
      log: SILENT_LOG,
      onFailure: (reason: Error) => {
        throw reason;
      },
    } as unknown as PipelineOptions);
    const makeWindows = (topic: string) =>
      Array.from(
        { length: partitions },
        (_, partition) =>
          new SimulatedWindow(topic, partition, windowRecords, (task) => this.#pipeline.intake.run(task as never)),
      );
    this.#windows = makeWindows("deliveries");
    this.#retryWindows = makeWindows("retry");
  }

  /** Ms since the start. */
  get elapsedMs(): number {
    return this.#nowMs - this.#startedMs;
  }

  /** A delivery arrives at its partition now. */
  arrive(destinationId: string, messageId: string, user: string): void {
    const delivery = {
      messageId,
      destinationId,
      sourceId: "src",
      type: "track",
      receivedAtMs: this.#nowMs,
      configOffset: 0,
      body: NO_BODY,
    } as unknown as Delivery;
    this.#enter(this.#windows, delivery, user, { progress: NO_PROGRESS, isRetry: false });
  }

  /** Lets time pass, and all that happens in it. */
  pass(ms: number): void {
    for (let leftMs = ms; leftMs > 0; leftMs -= STEP_MS) {
      this.#nowMs += STEP_MS;
      vi.advanceTimersByTime(STEP_MS);
      const due = this.#later.get(this.#nowMs);
      this.#later.delete(this.#nowMs);
      for (const { act } of due ?? []) act();
    }
  }

  end(): void {
    this.#pipeline.close();
    vi.useRealTimers();
  }

  #at(afterMs: number, act: () => void): void {
    const atMs = this.#nowMs + Math.max(STEP_MS, Math.ceil(afterMs / STEP_MS) * STEP_MS);
    const due = this.#later.get(atMs);
    if (due === undefined) this.#later.set(atMs, [{ atMs, act }]);
    else due.push({ atMs, act });
  }

  #enter(
    windows: readonly SimulatedWindow[],
    delivery: Delivery,
    user: string,
    { progress, isRetry }: Pick<IncomingDelivery, "progress" | "isRetry">,
  ): void {
    const key = `${delivery.destinationId}:${user}`;
    let hash = 0;
    for (const character of key) hash = (hash * 31 + character.charCodeAt(0)) % 1_000_003;
    const window = windows[hash % windows.length];
    this.#offsets += 1;
    const offset = this.#offsets;
    window?.arrive(() => {
      const deferralOnArrival = this.#pipeline.admission.deferralOnArrival(delivery.destinationId, window as never);
      const item: IncomingDelivery = {
        ...{ delivery, unreadable: null, progress, isRetry, republishedFrom: undefined, deferralOnArrival },
        traceparent: undefined,
      };
      return new SimulatedTask(window, item, offset, deferralOnArrival === null ? key : `${key} ${offset}`);
    });
  }

  #publish(task: SimulatedTask, followUps: readonly FollowUp[]): void {
    const { delivery } = task.item;
    if (delivery === null) throw new Error("a simulated delivery can be read");
    const user = task.lane.slice(delivery.destinationId.length + 1).split(" ")[0] ?? "";
    for (const followUp of followUps) {
      this.followUps[followUp.kind] += 1;
      if (followUp.kind !== "retry") continue;
      const { progress } = followUp;
      this.#at(followUp.delayMs, () => this.#enter(this.#retryWindows, delivery, user, { progress, isRetry: true }));
    }
    this.#at(STEP_MS, () => task.finish());
  }

  #attempt({ destination, messageId, urls }: AttemptRequest, listener: AttemptListener): void {
    const called = destination.urls.map(({ url }) => url).filter((url) => !urls || urls.includes(url));
    const startedAtMs = this.#nowMs;
    const results: (UrlResult | undefined)[] = called.map(() => undefined);
    let settled = false;
    for (const [index, url] of called.entries()) {
      this.requests.set(url, (this.requests.get(url) ?? 0) + 1);
      const answer = this.#options.answerOf(url, this.elapsedMs);
      this.#at(answer === "hangs" ? TIMEOUT_MS : answer.afterMs, () => {
        const result = toResult(url, answer, this.#nowMs);
        results[index] = result;
        if (result.outcome === "delivered") {
          this.onServed({ url, messageId, servedAtMs: this.elapsedMs });
        }
        listener.onOutcome(index, result.outcome, result);
        const known = results.filter((each) => each !== undefined);
        const isFirst = destination.settle === "any" && result.outcome === "delivered";
        if (!settled && (isFirst || known.length === called.length)) {
          settled = true;
          const settlement = isFirst ? DELIVERED : settle(destination.settle, known);
          listener.onSettled({ settlement, startedAtMs, urls: known });
        }
        listener.onEnd(index, { outcome: result.outcome, isOverBudget: false, answerMs: 0 });
      });
    }
  }
}

function toResult(url: string, answer: Answer, nowMs: number): UrlResult {
  if (answer === "hangs") {
    const nothing = { status: null, notBeforeMs: null, answer: null };
    return { url, outcome: classifyError("timeout"), error: "timeout", durationMs: TIMEOUT_MS, ...nothing };
  }
  const { status, afterMs, retryAfter } = answer;
  const isObeyed = retryAfter !== undefined && obeysRetryAfter(status);
  return {
    url,
    outcome: classifyStatus(status),
    status,
    error: null,
    durationMs: afterMs,
    notBeforeMs: isObeyed ? parseRetryAfter(retryAfter, nowMs) : null,
    answer: null,
  };
}
