/** The parts that all processes of a run share, and that are the same in all runs. */
import type { Codec } from "@posthaste/contracts/codec";
import { createTopicNames, retryTopicName } from "@posthaste/contracts/topics";
import type { Destination } from "@posthaste/core/config/destination";
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import type { RetrySchedule } from "@posthaste/core/delivery/retry-plan";
import type { Event } from "@posthaste/core/event/event";
import type { ConsumerTiming } from "@posthaste/kafka/consumer/windowed-consumer";
import type { Random } from "@posthaste/testkit/random";
import type { CommitWitness } from "./commit-witness.ts";
import type { DeliveryWitness } from "./delivery-witness.ts";
import { createJsonCodec } from "./json-codec.ts";
import type { ModelLog } from "./model-log.ts";
import type { Receivers } from "./receivers.ts";
import type { Scenario } from "./scenario.ts";
import type { World } from "./world.ts";

export const NAMES = createTopicNames("model");

/** Short, so that a run takes a minute of the world's time. */
export const SCHEDULE: RetrySchedule = { delaysMs: [1000, 2000, 4000, 8000], windowMs: 20_000 };

export const RETRY_TOPICS = SCHEDULE.delaysMs.map((delayMs) => retryTopicName(NAMES, delayMs));

/** Slower than a service's, so that more lies between two commits and a run has fewer steps. */
export const TIMING: Partial<ConsumerTiming> = {
  sessionTimeoutMs: 4000,
  heartbeatIntervalMs: 1300,
  commitIntervalMs: 400,
};

export const SOURCE_ID = "src";

export interface Codecs {
  readonly event: Codec<Event>;
  readonly delivery: Codec<Delivery>;
  readonly deadLetter: Codec<DeadLetter>;
  readonly destination: Codec<Destination>;
}

/** Each process has its own: another process has not learnt its schemas. */
export function createCodecs(): Codecs {
  return {
    event: createJsonCodec<Event>(),
    delivery: createJsonCodec<Delivery>(),
    deadLetter: createJsonCodec<DeadLetter>(),
    destination: createJsonCodec<Destination>(),
  };
}

export interface Installation {
  readonly world: World;
  readonly random: Random;
  readonly scenario: Scenario;
  readonly log: ModelLog;
  readonly receivers: Receivers;
  readonly commits: CommitWitness;
  readonly deliveries: DeliveryWitness;
  readonly onViolation: (what: string) => void;
  /** The greatest revision of a destination that stands in its topic up to an offset. */
  readonly newestRevision: (destinationId: string, upTo: number) => number;
  /** A service cannot go on; its process ends and is started again. */
  readonly onServiceFailed: (processId: string, reason: Error) => void;
}
