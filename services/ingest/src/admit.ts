/** Whether a source's calls are taken at this moment. */
import type { TopicNames } from "@posthaste/contracts/topics";
import type { Source } from "@posthaste/core/source";
import type { Producer } from "@posthaste/kafka/producer";
import { type Refusal, rateLimited, unavailable } from "./answer.ts";
import { ACKNOWLEDGE_TIMEOUT_MS } from "./limits.ts";
import type { Amount, RateLimit } from "./rate-limit.ts";

export interface AdmitParts {
  readonly rateLimit: RateLimit;
  readonly producer: Pick<Producer, "pendingBytes" | "stalledMs">;
  readonly names: Pick<TopicNames, "events">;
  /** Bytes that may wait for the brokers. */
  readonly maxPendingBytes: number;
  readonly acknowledgeTimeoutMs?: number | undefined;
}

export interface Admittance {
  /**
   * What a request is answered whatever is in it: while the brokers lag behind, and when its source sent more than it may. Null
   * most of the time. Null as the source: nobody's, as far as is known.
   */
  busy(source: Source | null): Refusal | null;
  /** Counts what a source sent against what it may send. */
  count(source: Source, sent: Amount): void;
}

const BUSY = unavailable("unavailable", "More calls arrive than the brokers take at the moment; send again.");

export function createAdmittance(parts: AdmitParts): Admittance {
  const { rateLimit, producer, names, maxPendingBytes, acknowledgeTimeoutMs = ACKNOWLEDGE_TIMEOUT_MS } = parts;

  const isLagging = () =>
    producer.pendingBytes > maxPendingBytes || producer.stalledMs(names.events) > acknowledgeTimeoutMs;

  return {
    busy: (source) => {
      if (isLagging()) return BUSY;
      const waitMs = source === null ? 0 : rateLimit.waitMs(source.id);
      return waitMs > 0 ? rateLimited(Math.ceil(waitMs / 1000)) : null;
    },
    count: (source, sent) => rateLimit.take(source.id, sent),
  };
}
