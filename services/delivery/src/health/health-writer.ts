/**
 * Writes this process's health reports on destinations, and its settings, to `posthaste.destination-health`.
 *
 * Owns: the signature and the moment of the last record of each destination, and the timer.
 * HW1  A destination is written when its state changed, and otherwise at most every `WRITE_INTERVAL_MS` while it is in
 *      use. A tick writes at most `MOST_A_TICK` records, changes first (`write-plan.ts`).
 * HW2  A destination that admission forgot is written once more where its last record says that something stood against
 *      it or was under way.
 * HW3  One send is out at a time, so that no records gather while the brokers do not answer. A destination whose record
 *      could not be sent is written again, with its counts of that later moment.
 * HW4  The process itself is written every `WRITE_INTERVAL_MS`. As long as it is, readers count its reports on
 *      destinations.
 * HW5  When a destination is forgotten (HC2 of `health-counts.ts`) its key is removed, and at the end all keys are.
 */
import type { Codec } from "@posthaste/contracts/codec";
import { destinationHealthKey, processHealthKey } from "@posthaste/contracts/health-keys";
import { isPosthasteError } from "@posthaste/core/errors";
import type { HealthRecord, ProcessHealth } from "@posthaste/core/health/health-record";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";
import type { DestinationsCounts } from "./health-counts.ts";
import { type ActiveHealth, type HealthMoment, stateSignature, toDestinationHealth } from "./health-report.ts";
import { planWrites, WRITE_INTERVAL_MS, type WriteChoice } from "./write-plan.ts";

const TICK_MS = 250;
/** The most records of a tick, that is, 200 a second. */
const MOST_A_TICK = 50;
const SWEEP_MS = 60_000;

export interface HealthWriterOptions {
  /** The name of this process. */
  readonly instance: string;
  readonly process: ProcessHealth;
  readonly counts: DestinationsCounts;
  /** Admission's state of a destination; undefined when it is not active. */
  readonly activeOf: (destinationId: string) => ActiveHealth | undefined;
  readonly producer: Pick<Producer, "send">;
  readonly topic: string;
  readonly codec: Pick<Codec<HealthRecord>, "encode">;
  readonly clock: Clock;
  readonly log: Log;
}

/** The last record of a destination. */
interface Written {
  readonly signature: number;
  readonly writtenMs: number;
  /** How many requests and deliveries were under way; while there were any, the destination is looked at again. */
  readonly underWay: number;
}

const NEVER: Written = { signature: -1, writtenMs: Number.NEGATIVE_INFINITY, underWay: 0 };

export class HealthWriter {
  readonly #options: HealthWriterOptions;
  readonly #written = new Map<string, Written>();
  /** The destinations that were used since they were last written. */
  readonly #unwritten = new Set<string>();
  /**
   * The destinations against which something stood, or of which something was under way, when they were last written.
   */
  readonly #watched = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  #processWrittenMs = Number.NEGATIVE_INFINITY;
  #sweptMs: number;
  #isSending = false;

  constructor(options: HealthWriterOptions) {
    this.#options = options;
    this.#sweptMs = options.clock.monotonicMs();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /**
   * Gives the removals to the producer before it returns, and resolves when they were written or given up (HW5). Close
   * the producer right after the call, since only the producer's close has a deadline.
   */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const { topic, producer, instance } = this.#options;
    const keys = [...this.#written.keys()].map((id) => destinationHealthKey(id, instance));
    const records = [processHealthKey(instance), ...keys].map((key) => ({ topic, key, value: null }));
    await producer.send(records).catch(() => undefined);
  }

  #tick(): void {
    if (this.#isSending) return;
    const { clock, counts } = this.#options;
    const moment = { nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
    for (const id of counts.takeTouched()) this.#unwritten.add(id);
    const records = [...this.#processRecord(moment), ...this.#forgotten(moment)];
    const planned = planWrites(this.#candidates(moment), {
      nowMs: moment.monotonicMs,
      most: Math.max(0, MOST_A_TICK - records.length),
    });
    const ids = planned.map(({ destinationId }) => destinationId);
    for (const id of ids) records.push(...this.#destinationRecord(id, moment));
    if (records.length > 0) this.#send(records, ids);
  }

  /** HW3. */
  #send(records: readonly OutgoingRecord[], ids: readonly string[]): void {
    const { producer, log } = this.#options;
    this.#isSending = true;
    producer
      .send(records)
      .catch((error: unknown) => {
        for (const id of ids) {
          this.#written.set(id, NEVER);
          this.#unwritten.add(id);
        }
        if (!isPosthasteError(error, "closed")) log.warn({ event: "health_not_written", err: error });
      })
      .finally(() => {
        this.#isSending = false;
      });
  }

  *#candidates(moment: HealthMoment): Iterable<WriteChoice> {
    for (const destinationId of this.#unwritten) yield this.#candidate(destinationId, moment);
    for (const destinationId of this.#watched) {
      if (this.#unwritten.has(destinationId)) continue;
      const candidate = this.#candidate(destinationId, moment);
      const { underWay } = this.#written.get(destinationId) ?? NEVER;
      if (candidate.isChanged || underWay !== underWayOf(this.#options.activeOf(destinationId))) yield candidate;
    }
  }

  #candidate(destinationId: string, moment: HealthMoment): WriteChoice {
    const { signature, writtenMs } = this.#written.get(destinationId) ?? NEVER;
    return { destinationId, isChanged: signature !== this.#signature(destinationId, moment), writtenMs };
  }

  #signature(destinationId: string, moment: HealthMoment): number {
    const { counts, activeOf } = this.#options;
    const held = counts.get(destinationId);
    return held === undefined ? NEVER.signature : stateSignature(held, activeOf(destinationId), moment);
  }

  #destinationRecord(destinationId: string, moment: HealthMoment): readonly OutgoingRecord[] {
    const { counts, activeOf, instance } = this.#options;
    const held = counts.get(destinationId);
    this.#unwritten.delete(destinationId);
    if (held === undefined) {
      this.#watched.delete(destinationId);
      return [];
    }
    const active = activeOf(destinationId);
    const signature = stateSignature(held, active, moment);
    const underWay = underWayOf(active);
    this.#written.set(destinationId, { signature, writtenMs: moment.monotonicMs, underWay });
    if (signature === 0 && underWay === 0) this.#watched.delete(destinationId);
    else this.#watched.add(destinationId);
    const destination = toDestinationHealth(held, active, moment);
    return [this.#record(destinationHealthKey(destinationId, instance), { destinationId, destination, process: null })];
  }

  /** HW4. */
  #processRecord({ monotonicMs }: HealthMoment): readonly OutgoingRecord[] {
    if (monotonicMs - this.#processWrittenMs < WRITE_INTERVAL_MS) return [];
    this.#processWrittenMs = monotonicMs;
    const { instance, process } = this.#options;
    return [this.#record(processHealthKey(instance), { destinationId: null, destination: null, process })];
  }

  /** HW5. */
  #forgotten({ nowMs, monotonicMs }: HealthMoment): readonly OutgoingRecord[] {
    if (monotonicMs - this.#sweptMs < SWEEP_MS) return [];
    this.#sweptMs = monotonicMs;
    const { counts, topic, instance } = this.#options;
    return counts.forgetUnused(nowMs).map((id) => {
      this.#written.delete(id);
      this.#unwritten.delete(id);
      this.#watched.delete(id);
      return { topic, key: destinationHealthKey(id, instance), value: null };
    });
  }

  #record(key: string, said: Pick<HealthRecord, "destinationId" | "destination" | "process">): OutgoingRecord {
    const { instance, clock, topic, codec } = this.#options;
    return { topic, key, value: codec.encode({ instance, writtenAtMs: Math.round(clock.nowMs()), ...said }) };
  }
}

function underWayOf(active: ActiveHealth | undefined): number {
  let underWay = active?.waiting ?? 0;
  for (const { out } of active?.urls ?? []) underWay += out;
  return underWay;
}
