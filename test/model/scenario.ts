/** The events of one run: an installation, and a list of the world's acts on it. */
import type { SettleRule } from "@posthaste/core/config/destination";
import fc from "fast-check";
import type { ProduceFault } from "./produce-requests.ts";
import type { Behaviour } from "./receivers.ts";

export interface DestinationPlan {
  readonly urls: number;
  readonly settle: SettleRule;
  readonly rateLimitPerSecond: number | null;
  readonly behaviours: readonly Behaviour[];
  /** Whether it is there from the start. */
  readonly isMadeLate: boolean;
}

/** Numbers that name a process, a destination or a user are taken modulo how many there are. */
export type Action =
  | { readonly kind: "events"; readonly user: number; readonly count: number; readonly isRepeated: boolean }
  | { readonly kind: "kill"; readonly process: number; readonly forMs: number }
  | { readonly kind: "stop"; readonly process: number; readonly forMs: number }
  | { readonly kind: "join"; readonly service: "router" | "delivery" }
  | { readonly kind: "cut"; readonly process: number; readonly forMs: number }
  | { readonly kind: "slow"; readonly process: number; readonly byMs: number; readonly forMs: number }
  | { readonly kind: "sends"; readonly process: number; readonly faults: readonly ProduceFault[] }
  | { readonly kind: "coordinator"; readonly group: number; readonly forMs: number }
  | { readonly kind: "url"; readonly destination: number; readonly url: number; readonly behaviour: Behaviour }
  | { readonly kind: "config"; readonly destination: number; readonly change: ConfigChange }
  /** A destination is made, and an event comes for it before the deliverers know it. */
  | { readonly kind: "new_unseen"; readonly user: number; readonly forMs: number }
  | { readonly kind: "lag"; readonly process: number; readonly forMs: number }
  | { readonly kind: "clock"; readonly process: number; readonly byMs: number }
  | { readonly kind: "broker_clock"; readonly byMs: number }
  | {
      readonly kind: "gap";
      readonly topic: "events" | "deliveries";
      readonly partition: number;
      readonly offsets: number;
    };

export type ConfigChange = "remove" | "make" | "switch_off" | "switch_on" | "urls" | "rate" | "written_late";

export interface TimedAction {
  readonly atMs: number;
  readonly action: Action;
}

export interface Scenario {
  /** Of everything that is not said here. */
  readonly seed: number;
  readonly partitions: number;
  readonly routers: number;
  readonly deliverers: number;
  readonly windowRecords: number;
  readonly dedupes: boolean;
  readonly maxConnections: number;
  readonly destinations: readonly DestinationPlan[];
  readonly actions: readonly TimedAction[];
}

/** How long faults come; then it is quiet. */
export const TROUBLE_MS = 15_000;
export const USERS = 3;

const good: fc.Arbitrary<Behaviour> = fc.record({
  kind: fc.constant("answer" as const),
  status: fc.constant(200),
  afterMs: fc.constantFrom(3, 20, 200, 900),
});
const bad: fc.Arbitrary<Behaviour> = fc.oneof(
  fc.record({
    kind: fc.constant("answer" as const),
    status: fc.constantFrom(500, 503, 404, 301),
    afterMs: fc.constantFrom(2, 300),
  }),
  fc.record({
    kind: fc.constant("answer" as const),
    status: fc.constantFrom(429, 503),
    afterMs: fc.constantFrom(2, 100),
    retryAfterMs: fc.constantFrom(1000, 3000, 9000, 3_600_000),
  }),
  fc.record({ kind: fc.constant("reset" as const), afterMs: fc.constantFrom(1, 50) }),
  fc.constant<Behaviour>({ kind: "hang" }),
);
const behaviour = fc.oneof({ weight: 3, arbitrary: good }, { weight: 2, arbitrary: bad });

const destination: fc.Arbitrary<DestinationPlan> = fc
  .record({
    behaviours: fc.array(behaviour, { minLength: 1, maxLength: 3 }),
    settle: fc.constantFrom<SettleRule[]>("any", "each"),
    rateLimitPerSecond: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, fc.constantFrom(2, 20)),
    isMadeLate: fc.oneof({ weight: 6, arbitrary: fc.constant(false) }, fc.constant(true)),
  })
  .map((plan) => ({ ...plan, urls: plan.behaviours.length }));

const number = fc.nat({ max: 11 });
const faults = fc.array(
  fc.constantFrom<ProduceFault[]>("answer_lost", "written_late", "refused", "not_named", "slow"),
  { minLength: 1, maxLength: 3 },
);
const shortMs = fc.constantFrom(50, 300, 1500, 3000);

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("events" as const),
      user: number,
      count: fc.constantFrom(1, 2, 3, 8),
      isRepeated: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("kill" as const), process: number, forMs: shortMs }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("stop" as const), process: number, forMs: shortMs }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("join" as const),
      service: fc.constantFrom<("router" | "delivery")[]>("router", "delivery"),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("cut" as const),
      process: number,
      forMs: fc.constantFrom(200, 2000, 5000, 8000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("slow" as const),
      process: number,
      byMs: fc.constantFrom(50, 400, 1500),
      forMs: shortMs,
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("sends" as const), process: number, faults }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("coordinator" as const), group: number, forMs: shortMs }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("url" as const), destination: number, url: number, behaviour }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("config" as const),
      destination: number,
      change: fc.constantFrom<ConfigChange[]>(
        "remove",
        "make",
        "switch_off",
        "switch_on",
        "urls",
        "rate",
        "written_late",
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("new_unseen" as const), user: number, forMs: shortMs }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("lag" as const), process: number, forMs: shortMs }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("clock" as const),
      process: number,
      byMs: fc.constantFrom(-30_000, -2000, 2000, 30_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("broker_clock" as const),
      byMs: fc.constantFrom(-20_000, -1000, 1000, 20_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("gap" as const),
      topic: fc.constantFrom<("events" | "deliveries")[]>("events", "deliveries"),
      partition: number,
      offsets: fc.constantFrom(1, 3),
    }),
  },
);

export const scenarios: fc.Arbitrary<Scenario> = fc.record({
  seed: fc.noShrink(fc.nat()),
  partitions: fc.integer({ min: 1, max: 3 }),
  routers: fc.integer({ min: 1, max: 2 }),
  deliverers: fc.integer({ min: 1, max: 3 }),
  windowRecords: fc.constantFrom(4, 12, 60),
  dedupes: fc.boolean(),
  maxConnections: fc.constantFrom(16, 4096),
  destinations: fc.array(destination, { minLength: 1, maxLength: 3 }),
  actions: fc.array(fc.record({ atMs: fc.integer({ min: 0, max: TROUBLE_MS }), action }), {
    minLength: 1,
    maxLength: 30,
    size: "max",
  }),
});
