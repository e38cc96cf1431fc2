/**
 * The rules by which the newest state of a destination passes a delivery to admission, ends it or holds it.
 *
 * Owns: the ids of the destinations whose missing key was logged.
 * V2  A destination whose secrets this process cannot open gets nothing, and none of its deliveries is given up: they
 *     are held.
 * V3  URLs, headers and secrets are read at the moment of sending: admission has a waiting delivery checked again when
 *     its destination was changed meanwhile.
 */

import type { Destination } from "@posthaste/core/config/destination";
import type { DeadLetterReason } from "@posthaste/core/delivery/dead-letter";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import type { Log } from "@posthaste/core/log";
import type { Task } from "@posthaste/kafka/consumer/windowed-consumer";
import type { Table } from "@posthaste/kafka/log/table";
import type { IncomingDelivery } from "../intake/incoming-delivery.ts";
import { type CheckedDelivery, toChecked } from "./checked-delivery.ts";

/** The ends of a delivery that does not go on to admission. */
export interface RefusalPort {
  /** Ends the delivery as a dead letter, with the progress of its record. */
  deadLetter(task: Task<IncomingDelivery>, delivery: Delivery, reason: DeadLetterReason): void;
  /** Keeps the delivery in retry topics until this process has the key of its destination's secrets. */
  hold(checked: CheckedDelivery): void;
}

export interface DestinationCheckOptions {
  readonly destinations: Pick<Table<Destination>, "get">;
  readonly refusals: RefusalPort;
  readonly log: Log;
}

export class DestinationCheck {
  readonly #options: DestinationCheckOptions;
  /** The log has one line for each destination, and not one for each delivery. */
  readonly #logged = new Set<string>();

  constructor(options: DestinationCheckOptions) {
    this.#options = options;
  }

  /** Returns the delivery for admission, or null: then it was dead-lettered or held. */
  check(task: Task<IncomingDelivery>, delivery: Delivery): CheckedDelivery | null {
    const { destinations, refusals } = this.#options;
    const destination = destinations.get(delivery.destinationId);
    if (destination === undefined) {
      refusals.deadLetter(task, delivery, "destination_removed");
      return null;
    }
    if (!destination.enabled || destination.urls.length === 0) {
      refusals.deadLetter(task, delivery, "destination_disabled");
      return null;
    }
    const checked = toChecked(task, delivery, destination);
    // `settle: each`: the destination has none of the URLs that are owed; a replay can still call others.
    if (checked.requests === 0) refusals.deadLetter(task, delivery, "destination_removed");
    else if (destination.missingKeyIds !== null) this.#hold(checked, destination.missingKeyIds);
    else return checked;
    return null;
  }

  /** Whether the delivery's destination is unchanged since its last check. */
  isCurrent({ destination }: CheckedDelivery): boolean {
    return this.#options.destinations.get(destination.id) === destination;
  }

  /** V2. */
  #hold(checked: CheckedDelivery, missingKeyIds: readonly string[]): void {
    const { refusals, log } = this.#options;
    const { id } = checked.destination;
    if (!this.#logged.has(id)) {
      this.#logged.add(id);
      log.error(
        { event: "secret_key_unknown", destinationId: id, missingKeyIds },
        "deliveries are held until POSTHASTE_SECRET_KEYS holds the keys of these ids",
      );
    }
    refusals.hold(checked);
  }
}
