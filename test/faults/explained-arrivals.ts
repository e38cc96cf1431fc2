/**
 * The attempt log's reasons for events that came again, or after later ones of their user.
 *
 * A request whose answer did not come within its five seconds is sent again, by a retry that comes after events that
 * were not retried; while twenty such in a row keep the circuit breaker open, later events are deferred and come as
 * late (docs/webhooks.md). On a machine that stands still for so long neither is a fault. A repeat that the log does
 * not tell of is one.
 */
import type { TopicNames } from "@posthaste/contracts/topics";
import type { AttemptBatch } from "@posthaste/core/delivery/attempt-record";
import type { LocalStack } from "@posthaste/local-stack/local-stack";
import { readValues } from "../e2e/read-topic.ts";
import type { Arrivals } from "./arrivals.ts";

export type SeenArrivals = Pick<Arrivals, "repeats" | "late">;

export interface ExplainedArrivals {
  /** Requests beyond the first of their event, but for one after each attempt that failed. */
  readonly repeated: number;
  /** Events that came late and were neither tried in vain nor deferred before. */
  readonly disordered: number;
  /** Events that came again or late, for which there is such a reason. */
  readonly retried: number;
  /** The reasons, each with how often the log has it for one of these events. */
  readonly reasons: ReadonlyMap<string, number>;
}

/** Reads the log where there is something to explain. */
export async function explainArrivals(
  seen: SeenArrivals,
  { brokers, schemaRegistry }: Pick<LocalStack, "brokers" | "schemaRegistry">,
  names: TopicNames,
): Promise<ExplainedArrivals> {
  const explanation = new Explanation(seen);
  if (seen.repeats.size + seen.late.size > 0) {
    const log = { brokers, schemaRegistry, names, topic: names.attempts, schema: "attempt-batch" } as const;
    await readValues<AttemptBatch>(log, (batch) => explanation.add(batch));
  }
  return explanation.result();
}

/** The same from batches of the log, which come one by one. */
export class Explanation {
  readonly #seen: SeenArrivals;
  readonly #failed = new Map<string, number>();
  readonly #deferred = new Set<string>();
  readonly #reasons = new Map<string, number>();

  constructor(seen: SeenArrivals) {
    this.#seen = seen;
  }

  add({ attempts, deferrals }: AttemptBatch): void {
    for (const { messageId, outcome, urls } of attempts) {
      if (outcome === "delivered" || !this.#isOdd(messageId)) continue;
      this.#failed.set(messageId, this.failuresOf(messageId) + 1);
      this.#count(urls.map(({ error, status }) => error ?? status).join(", "));
    }
    for (const { messageId, cause } of deferrals) {
      if (!this.#isOdd(messageId)) continue;
      this.#deferred.add(messageId);
      this.#count(`deferred: ${cause}`);
    }
  }

  /** Attempts of an event that came again or late which the log says failed. */
  failuresOf(messageId: string): number {
    return this.#failed.get(messageId) ?? 0;
  }

  result(): ExplainedArrivals {
    const { repeats, late } = this.#seen;
    const isRetried = (messageId: string) => this.#failed.has(messageId) || this.#deferred.has(messageId);
    let repeated = 0;
    for (const [messageId, times] of repeats) repeated += Math.max(0, times - this.failuresOf(messageId));
    return {
      repeated,
      disordered: [...late].filter((messageId) => !isRetried(messageId)).length,
      retried: [...new Set([...repeats.keys(), ...late])].filter(isRetried).length,
      reasons: this.#reasons,
    };
  }

  #isOdd(messageId: string): boolean {
    return this.#seen.repeats.has(messageId) || this.#seen.late.has(messageId);
  }

  #count(reason: string): void {
    this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1);
  }
}
