/**
 * The attempt log's reasons for events that came again, or after later ones of their user.
 *
 * A request whose answer did not come within its five seconds is sent again, by a retry that comes after events that
 * were not retried; while twenty such in a row keep the circuit breaker open, later events are deferred and come as
 * late (docs/webhooks.md). On a machine that stands still for so long neither is a fault. A repeat that neither the log
 * nor a retry topic tells of is one: a killed process takes the newest attempts of its log with it, and every attempt
 * that failed is in the history of a record in a retry topic.
 */
import { decodeProgress } from "@posthaste/contracts/headers";
import type { TopicNames } from "@posthaste/contracts/topics";
import { decodeHistory } from "@posthaste/core/delivery/attempt-history";
import type { AttemptBatch } from "@posthaste/core/delivery/attempt-record";
import type { Delivery, DeliveryProgress } from "@posthaste/core/delivery/delivery";
import type { LocalStack } from "@posthaste/local-stack/local-stack";
import { withAdmin } from "@posthaste/testkit/broker";
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

/** Reads the log where there is something to explain, and the retry topics where the log leaves something over. */
export async function explainArrivals(
  seen: SeenArrivals,
  { brokers, schemaRegistry }: Pick<LocalStack, "brokers" | "schemaRegistry">,
  names: TopicNames,
): Promise<ExplainedArrivals> {
  const explanation = new Explanation(seen);
  if (seen.repeats.size + seen.late.size > 0) {
    const log = { brokers, schemaRegistry, names, topic: names.attempts, schema: "attempt-batch" } as const;
    await readValues<AttemptBatch>(log, (batch) => explanation.add(batch));
    if (!explanation.isWhole) {
      const listed = await withAdmin((admin) => admin.listTopics(), brokers);
      for (const topic of listed.filter((each) => each.startsWith(names.retryPrefix))) {
        const retries = { brokers, schemaRegistry, names, topic, schema: "delivery" } as const;
        await readValues<Delivery>(retries, ({ messageId }, _, headers) =>
          explanation.addRetry(messageId, decodeProgress(headers)),
        );
      }
    }
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

  /** A record in a retry topic, with the history that it carries. */
  addRetry(messageId: string, { history, deferrals }: Pick<DeliveryProgress, "history" | "deferrals">): void {
    if (!this.#isOdd(messageId)) return;
    const failed = decodeHistory(history).length;
    if (failed > this.failuresOf(messageId)) this.#failed.set(messageId, failed);
    if (deferrals > 0) this.#deferred.add(messageId);
  }

  /** Attempts of an event that came again or late which are known to have failed. */
  failuresOf(messageId: string): number {
    return this.#failed.get(messageId) ?? 0;
  }

  get isWhole(): boolean {
    const { repeated, disordered } = this.result();
    return repeated + disordered === 0;
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
