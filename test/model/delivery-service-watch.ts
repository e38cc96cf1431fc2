/**
 * Watches a delivery service of the model from within: the permit by which an attempt is made, and the publication by a
 * request to the brokers, which the calls themselves do not say.
 *
 * Owns the published and the sent records while the producer and the sender are called, and each request's attempt.
 * - An attempt and a republished record belong to the task in whose call they were begun: calls are not nested in calls
 *   of other tasks, and later questions are answered by the request.
 */
import { headerText, REPUBLISHED_FROM_HEADER } from "@posthaste/contracts/headers";
import type { Destination } from "@posthaste/core/config/destination";
import type { IncomingDelivery } from "@posthaste/delivery/incoming-delivery";
import type { OutcomePublisher } from "@posthaste/delivery/outcome-publisher";
import type { createPipeline } from "@posthaste/delivery/pipeline";
import type { Task } from "@posthaste/kafka/consumer/windowed-consumer";
import type { Table } from "@posthaste/kafka/log/table";
import type { GroupCommitProducer } from "@posthaste/kafka/producer/producer";
import type { UrlResult } from "@posthaste/webhook/report";
import type { AttemptRequest } from "@posthaste/webhook/sender";
import type { AttemptSeen } from "./delivery-witness.ts";
import type { Installation } from "./installation.ts";
import type { ModelProcess } from "./model-process.ts";
import type { AttemptWatch } from "./receivers.ts";

export class DeliveryServiceWatch implements AttemptWatch {
  readonly #owner: ModelProcess;
  readonly #installation: Installation;
  readonly #destinations: Pick<Table<Destination>, "get" | "appliedOffset">;
  readonly #seen = new WeakMap<object, AttemptSeen>();
  /** The task that republishes while the producer is called. */
  #publishing: Task<IncomingDelivery> | null = null;
  /** The permit in use while the sender is called. */
  #sending: { readonly task: Task<IncomingDelivery>; readonly isLast: boolean } | null = null;

  constructor(
    owner: ModelProcess,
    installation: Installation,
    destinations: Pick<Table<Destination>, "get" | "appliedOffset">,
  ) {
    this.#owner = owner;
    this.#installation = installation;
    this.#destinations = destinations;
  }

  ofRepublisher(republisher: GroupCommitProducer): void {
    const republish = republisher.send.bind(republisher);
    republisher.send = (records) => {
      if (this.#publishing?.window.isRevoked === true) {
        this.#installation.onViolation(`F3 ${this.#owner.id} republishes from a partition that it gave up`);
      }
      return republish(records);
    };
  }

  ofPublisher(publisher: OutcomePublisher): void {
    const publish = publisher.publish.bind(publisher);
    publisher.publish = (task, plans) => {
      const before = this.#publishing;
      this.#publishing = task;
      publish(task, plans);
      this.#publishing = before;
    };
  }

  ofAttempts(attempts: ReturnType<typeof createPipeline>["attempts"]): void {
    const start = attempts.start.bind(attempts);
    attempts.start = (permit, feedback) => {
      const before = this.#sending;
      this.#sending = { task: permit.request.task, isLast: permit.isLast };
      start(permit, feedback);
      this.#sending = before;
    };
  }

  onStart(request: AttemptRequest, urls: readonly string[]): void {
    const { world, deliveries, newestRevision, onViolation } = this.#installation;
    const { id: processId } = this.#owner;
    if (this.#sending === null) throw new Error("an attempt began without a permit");
    const { isLast, task } = this.#sending;
    const { record, item, window } = task;
    if (item.delivery === null) throw new Error("an attempt of nothing began");
    const attempt: AttemptSeen = {
      ...{ processId, record, isRetry: item.isRetry, delivery: item.delivery, urls, isLast },
      ...{ progress: item.progress, destination: request.destination, startedMs: world.nowMs },
      startedByClockMs: Date.now(),
    };
    this.#seen.set(request, attempt);
    if (window.isRevoked) onViolation(`DW0 ${processId} sends from a partition that it gave up`);
    const { id, revision } = request.destination;
    if (revision < newestRevision(id, this.#destinations.appliedOffset)) {
      onViolation(`DW3 ${processId} sends to ${id} as it was at revision ${revision} (P5)`);
    }
    const republish = headerText(record.headers, REPUBLISHED_FROM_HEADER);
    deliveries.attempted(attempt, this.#destinations.get(request.destination.id), republish);
  }

  onTaken(request: AttemptRequest, url: string): void {
    const attempt = this.#seen.get(request);
    if (attempt !== undefined) this.#installation.deliveries.tookIt(attempt, url);
  }

  onResult(request: AttemptRequest, result: UrlResult): void {
    const { world, deliveries } = this.#installation;
    const attempt = this.#seen.get(request);
    if (attempt !== undefined) deliveries.answered(attempt, result, world.nowMs, Date.now());
  }
}
