/** Whether a source's calls are taken at this moment. */
import type { TopicNames } from "@posthaste/contracts/topics";
import type { Producer } from "@posthaste/kafka/producer";
import { type Refusal, rateLimited, unavailable } from "./answer.ts";
import { ACKNOWLEDGE_TIMEOUT_MS } from "./limits.ts";
import type { RateLimit } from "./rate-limit.ts";

export interface AdmitParts {
  readonly rateLimit: RateLimit;
  readonly producer: Pick<Producer, "pendingBytes" | "stalledMs">;
  readonly names: Pick<TopicNames, "events">;
  /** Bytes that may wait for the brokers. */
  readonly maxPendingBytes: number;
  readonly acknowledgeTimeoutMs?: number | undefined;
}

export interface Admittance {
  /** What every request is answered while the brokers lag behind, whatever is in it; null while they do not. */
  busy(): Refusal | null;
  /** Takes so many calls from what the source may send; the refusal when it sent too many before. */
  admit(sourceId: string, calls: number): Refusal | null;
}

const BUSY = unavailable("unavailable", "More calls arrive than the brokers take at the moment; send again.");

export function createAdmittance(parts: AdmitParts): Admittance {
  const { rateLimit, producer, names, maxPendingBytes, acknowledgeTimeoutMs = ACKNOWLEDGE_TIMEOUT_MS } = parts;
  return {
    busy: () =>
      producer.pendingBytes > maxPendingBytes || producer.stalledMs(names.events) > acknowledgeTimeoutMs ? BUSY : null,
    admit: (sourceId, calls) => {
      const waitMs = rateLimit.take(sourceId, calls);
      return waitMs > 0 ? rateLimited(Math.ceil(waitMs / 1000)) : null;
    },
  };
}
