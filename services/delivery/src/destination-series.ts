/**
 * The metrics of single destinations, of as many as the cap allows; all others share the label value `other`.
 *
 * Owns: the slots, which are the destinations that have series of their own, and the counts of each slot and of
 * `other`.
 * - While slots are free, a destination gets one with its first request. Afterwards a freed slot goes to the
 *   destination in need of it: one with an open breaker first, then the one with the most deliveries.
 * - A slot is freed after an hour without a delivery or a request. Counts never move between label values.
 */
import { ATTEMPT_OUTCOMES, type AttemptOutcome } from "@posthaste/core/delivery/outcome";
import {
  Counter,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValueWithName,
  type Registry,
} from "prom-client";

/** The state of a destination that the gauges show. */
export interface DestinationState {
  readonly inFlight: number;
  /** How many requests may be in flight to all of its URLs. */
  readonly limit: number;
  /** Deliveries that wait in memory or in retry topics. */
  readonly waiting: number;
  readonly isBreakerOpen: boolean;
}

export interface DestinationSeriesOptions {
  readonly registry: Registry;
  /** The most destinations with series of their own. */
  readonly cap: number;
  readonly monotonicMs: () => number;
}

/** The destinations that are active in this process, by id. */
export type DestinationStates = () => Iterable<readonly [string, DestinationState]>;

interface Slot {
  readonly outcomes: Record<AttemptOutcome, number>;
  /** The requests of each bucket alone; the last is for those above every bound. */
  readonly buckets: number[];
  seconds: number;
  usedMs: number;
}

type Values = MetricObjectWithValues<MetricValueWithName<string>>;

const OTHER = "other";
const IDLE_MS = 3_600_000;
const BOUNDS_S = [0.1, 0.5, 2, 5];
const GAUGES = [
  ["in_flight", "Requests to the destination that are in flight.", ({ inFlight }: DestinationState) => inFlight],
  [
    "limit",
    "How many requests to the destination may be in flight, all of its URLs.",
    ({ limit }: DestinationState) => limit,
  ],
  [
    "waiting_records",
    "Deliveries of the destination that wait in memory or in retry topics.",
    ({ waiting }: DestinationState) => waiting,
  ],
  [
    "breaker_open",
    "1 while a breaker of the destination is not closed; of other: how many destinations.",
    ({ isBreakerOpen }: DestinationState) => Number(isBreakerOpen),
  ],
] as const;

export class DestinationSeries {
  readonly #options: DestinationSeriesOptions;
  readonly #slots = new Map<string, Slot>();
  readonly #other: Slot;
  /** Deliveries of destinations without a slot, since the last free one. */
  readonly #waitingForSlot = new Map<string, number>();
  #states: DestinationStates = () => [];

  constructor(options: DestinationSeriesOptions) {
    this.#options = options;
    this.#other = createSlot(options.monotonicMs());
    this.#register();
  }

  /** Sets the reader of the gauges. */
  watch(states: DestinationStates): void {
    this.#states = states;
  }

  /** Counts a settled attempt at a delivery. */
  settled(destinationId: string, outcome: AttemptOutcome): void {
    const slot = this.#slotOf(destinationId);
    slot.outcomes[outcome] += 1;
    if (slot === this.#other) {
      this.#waitingForSlot.set(destinationId, (this.#waitingForSlot.get(destinationId) ?? 0) + 1);
    }
  }

  /** Counts a request that took `durationMs` to its answer's head or its failure. */
  requested(destinationId: string, durationMs: number): void {
    const slot = this.#slotOf(destinationId);
    const seconds = durationMs / 1000;
    let bucket = 0;
    while (bucket < BOUNDS_S.length && seconds > (BOUNDS_S[bucket] ?? seconds)) bucket += 1;
    slot.buckets[bucket] = (slot.buckets[bucket] ?? 0) + 1;
    slot.seconds += seconds;
  }

  #slotOf(destinationId: string): Slot {
    const nowMs = this.#options.monotonicMs();
    const known = this.#slots.get(destinationId);
    if (known !== undefined) {
      known.usedMs = nowMs;
      return known;
    }
    return this.#slots.size < this.#options.cap && this.#waitingForSlot.size === 0
      ? this.#open(destinationId, nowMs)
      : this.#other;
  }

  #open(destinationId: string, nowMs: number): Slot {
    const slot = createSlot(nowMs);
    this.#slots.set(destinationId, slot);
    this.#waitingForSlot.delete(destinationId);
    return slot;
  }

  /** Frees the slots of idle destinations and gives them to those in need. */
  #reassign(states: ReadonlyMap<string, DestinationState>): void {
    const { monotonicMs, cap } = this.#options;
    const nowMs = monotonicMs();
    for (const [id, { usedMs }] of this.#slots) if (nowMs - usedMs >= IDLE_MS) this.#slots.delete(id);
    const free = cap - this.#slots.size;
    if (free <= 0 || this.#waitingForSlot.size === 0) return;
    const isOpen = (id: string) => Number(states.get(id)?.isBreakerOpen ?? false);
    const inNeed = [...this.#waitingForSlot]
      .toSorted(([a, ofA], [b, ofB]) => isOpen(b) - isOpen(a) || ofB - ofA)
      .slice(0, free);
    for (const [id] of inNeed) this.#open(id, nowMs);
    if (this.#slots.size < cap) this.#waitingForSlot.clear();
  }

  #register(): void {
    const { registry } = this.#options;
    const registers = [registry];
    const [labelled, labelNames] = [() => this.#labelled(), ["destination"]];
    let states: ReadonlyMap<string, DestinationState> = new Map();
    const refresh = (): void => {
      states = new Map(this.#states());
      this.#reassign(states);
    };
    new Counter({
      name: "posthaste_destination_deliveries_total",
      help: "Settled attempts at deliveries of a destination by outcome; other: the destinations without series of their own.",
      labelNames: ["destination", "outcome"],
      registers,
      collect() {
        // The first of the metrics of destinations on the page: the others follow its choice of them.
        refresh();
        this.reset();
        for (const [destination, { outcomes }] of labelled())
          for (const outcome of ATTEMPT_OUTCOMES) this.inc({ destination, outcome }, outcomes[outcome]);
      },
    });
    this.#registerSeconds(registry);
    const gaugeStates = (read: (state: DestinationState) => number): ReadonlyMap<string, number> => {
      const values = new Map([...this.#slots.keys(), OTHER].map((id) => [id, 0]));
      for (const [id, state] of states) {
        const label = values.has(id) ? id : OTHER;
        values.set(label, (values.get(label) ?? 0) + read(state));
      }
      return values;
    };
    for (const [suffix, help, read] of GAUGES) {
      new Gauge({
        ...{ name: `posthaste_destination_${suffix}`, help, labelNames, registers },
        collect() {
          this.reset();
          for (const [destination, value] of gaugeStates(read)) this.set({ destination }, value);
        },
      });
    }
    const hidden = () => [...states.keys()].filter((id) => !this.#slots.has(id)).length;
    new Gauge({
      name: "posthaste_destination_series_other",
      help: "Active destinations without series of their own, which count as other.",
      registers,
      collect() {
        this.set(hidden());
      },
    });
  }

  #registerSeconds(registry: Registry): void {
    const name = "posthaste_destination_request_seconds";
    const help = "From the start of a request to a destination to the end of its answer's head, or to its failure.";
    const described = new Histogram({ name, help, buckets: BOUNDS_S, labelNames: ["destination"], registers: [] });
    const get = async (): Promise<Values> => {
      const metric = await described.get();
      return { ...metric, values: [...this.#labelled()].flatMap(([id, slot]) => secondsOf(name, id, slot)) };
    };
    const labelNames = ["destination"];
    registry.registerMetric({ name, labelNames, get, reset: () => undefined } as unknown as Histogram);
  }

  *#labelled(): Iterable<readonly [string, Slot]> {
    yield* this.#slots;
    yield [OTHER, this.#other];
  }
}

function createSlot(usedMs: number): Slot {
  return {
    outcomes: { delivered: 0, retryable: 0, permanent: 0 },
    buckets: new Array<number>(BOUNDS_S.length + 1).fill(0),
    ...{ seconds: 0, usedMs },
  };
}

function secondsOf(name: string, destination: string, { buckets, seconds }: Slot): MetricValueWithName<string>[] {
  let count = 0;
  const values = buckets.map((own, index) => {
    count += own;
    const le = BOUNDS_S[index] ?? "+Inf";
    return { labels: { destination, le }, value: count, metricName: `${name}_bucket` };
  });
  return [
    ...values,
    { labels: { destination }, value: seconds, metricName: `${name}_sum` },
    { labels: { destination }, value: count, metricName: `${name}_count` },
  ];
}
