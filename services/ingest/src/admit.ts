/** Whether a source's calls are taken at this moment. */
import type { TopicNames } from "@posthaste/contracts/topics";
import type { Source } from "@posthaste/core/config/source";
import type { Producer } from "@posthaste/kafka/producer/producer";
import { type Refusal, rateLimited, unavailable } from "./answer.ts";
import { ACKNOWLEDGE_TIMEOUT_MS, RETRY_AFTER_S } from "./limits.ts";
import type { Amount, RateLimit } from "./rate-limit.ts";
import type { UnderWay } from "./under-way.ts";
import type { WorkQueue, WorkSender } from "./work-queue.ts";

export interface AdmitParts {
  readonly rateLimit: RateLimit;
  readonly work: Pick<WorkQueue, "isFull">;
  readonly underWay: Pick<UnderWay, "isFull">;
  readonly producer: Pick<Producer, "pendingBytes" | "stalledMs">;
  readonly names: Pick<TopicNames, "events">;
  /** Bytes that may wait for the brokers. */
  readonly maxPendingBytes: number;
  readonly acknowledgeTimeoutMs?: number | undefined;
}

export interface Admittance {
  /**
   * What a request is answered whatever is in it: while the brokers lag behind or as much of its source waits for them as is left for
   * all others, and when its source sent more than it may. Null most of the time. Null as the source: nobody's, as far as is known.
   */
  busy(source: Source | null): Refusal | null;
  /** What a sender is answered that has its share of what may wait, before more of it waits (T5); null most of the time. */
  crowded(sender: WorkSender): Refusal | null;
  /** The same of what may be under way, before another request is (U1). */
  crowding(source: Source): Refusal | null;
  /** So many bytes of a source begin to wait for the brokers, or end with a number below 0. */
  pending(source: Source, bytes: number): void;
  /** Counts what a source sent against what it may send. */
  count(source: Source, sent: Amount): void;
}

const BUSY = unavailable("unavailable", "More calls arrive than the brokers take at the moment; send again.");

const CROWDED = rateLimited(
  RETRY_AFTER_S,
  `More is sent than can be worked on, and this sender has its share; send again after ${RETRY_AFTER_S} s.`,
);

export function createAdmittance(parts: AdmitParts): Admittance {
  const {
    rateLimit,
    work,
    underWay,
    producer,
    names,
    maxPendingBytes,
    acknowledgeTimeoutMs = ACKNOWLEDGE_TIMEOUT_MS,
  } = parts;

  const isLagging = () =>
    producer.pendingBytes > maxPendingBytes || producer.stalledMs(names.events) > acknowledgeTimeoutMs;

  const pendingOf = new Map<string, number>();

  return {
    busy: (source) => {
      if (isLagging()) return BUSY;
      if (source === null) return null;
      if ((pendingOf.get(source.id) ?? 0) > maxPendingBytes - producer.pendingBytes) return BUSY;
      const waitMs = rateLimit.waitMs(source.id);
      return waitMs > 0 ? overLimit(Math.ceil(waitMs / 1000)) : null;
    },
    crowded: (sender) => (work.isFull(sender) ? CROWDED : null),
    crowding: (source) => (underWay.isFull(source.id) ? CROWDED : null),
    pending: ({ id }, bytes) => {
      const sum = (pendingOf.get(id) ?? 0) + bytes;
      if (sum > 0) pendingOf.set(id, sum);
      else pendingOf.delete(id);
    },
    count: (source, sent) => rateLimit.take(source.id, sent),
  };
}

function overLimit(retryAfterS: number): Refusal {
  return rateLimited(retryAfterS, `This source sends more than it may; send again after ${retryAfterS} s.`);
}
