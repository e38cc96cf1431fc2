/**
 * Whether calls are accepted at this moment, whatever is in them.
 *
 * Owns: how many bytes of each source wait for the brokers.
 */
import type { TopicNames } from "@posthaste/contracts/topics";
import type { Source } from "@posthaste/core/config/source";
import type { Producer } from "@posthaste/kafka/producer/producer";
import { type Refusal, rateLimited, unavailable } from "../answer/answer.ts";
import type { ActiveRequests } from "../fairness/active-requests.ts";
import type { Amount, RateLimit } from "../fairness/rate-limit.ts";
import type { WorkQueue, WorkSender } from "../fairness/work-queue.ts";
import { ACKNOWLEDGE_TIMEOUT_MS, RETRY_AFTER_S } from "../limits.ts";

export interface AdmissionParts {
  readonly rateLimit: RateLimit;
  readonly work: Pick<WorkQueue, "isFull">;
  readonly activeRequests: Pick<ActiveRequests, "isFull">;
  readonly producer: Pick<Producer, "pendingBytes" | "stalledMs">;
  readonly names: Pick<TopicNames, "events">;
  /** The most bytes that may wait for the brokers. */
  readonly maxPendingBytes: number;
  readonly acknowledgeTimeoutMs?: number | undefined;
}

/** Each question is answered with a refusal, or with null, as it mostly is. */
export interface Admission {
  /** Asks for a request of anybody, which is refused while the brokers lag. */
  ofAnybody(): Refusal | null;
  /**
   * Asks for a request of a source, which is refused while the brokers lag, while more of the source's bytes wait for
   * them than are left for all others, and when the source sent more than it may.
   */
  ofSource(source: Source): Refusal | null;
  /**
   * Asks for work of a sender, which is refused when the sender has its share of the work that may wait (QW5 of
   * work-queue.ts).
   */
  ofWork(sender: WorkSender): Refusal | null;
  /**
   * Asks for one more active request of a source, which is refused when the source has its share of them (AR1 of
   * active-requests.ts).
   */
  ofActiveRequest(source: Source): Refusal | null;
  /** Counts bytes of a source that begin to wait for the brokers; a number below 0 counts bytes that wait no longer. */
  countPending(source: Source, bytes: number): void;
  /** Counts a source's calls and bytes towards its rate. */
  countSent(source: Source, sent: Amount): void;
}

const LAGGING = unavailable("unavailable", "More calls arrive than the brokers take at the moment; send again.");

const OVER_SHARE = rateLimited(
  RETRY_AFTER_S,
  `More is sent than can be worked on, and this sender has its share; send again after ${RETRY_AFTER_S} s.`,
);

export function createAdmission(parts: AdmissionParts): Admission {
  const { rateLimit, work, activeRequests, producer, names, maxPendingBytes } = parts;
  const { acknowledgeTimeoutMs = ACKNOWLEDGE_TIMEOUT_MS } = parts;
  const pendingOf = new Map<string, number>();

  const ofAnybody = () => {
    const isLagging =
      producer.pendingBytes > maxPendingBytes || producer.stalledMs(names.events) > acknowledgeTimeoutMs;
    return isLagging ? LAGGING : null;
  };

  return {
    ofAnybody,
    ofSource: (source) => {
      const lagging = ofAnybody();
      if (lagging !== null) return lagging;
      if ((pendingOf.get(source.id) ?? 0) > maxPendingBytes - producer.pendingBytes) return LAGGING;
      const waitMs = rateLimit.waitMs(source.id);
      return waitMs > 0 ? overLimit(Math.ceil(waitMs / 1000)) : null;
    },
    ofWork: (sender) => (work.isFull(sender) ? OVER_SHARE : null),
    ofActiveRequest: (source) => (activeRequests.isFull(source.id) ? OVER_SHARE : null),
    countPending: ({ id }, bytes) => {
      const sum = (pendingOf.get(id) ?? 0) + bytes;
      if (sum > 0) pendingOf.set(id, sum);
      else pendingOf.delete(id);
    },
    countSent: (source, sent) => rateLimit.take(source.id, sent),
  };
}

function overLimit(retryAfterS: number): Refusal {
  return rateLimited(retryAfterS, `This source sends more than it may; send again after ${retryAfterS} s.`);
}
