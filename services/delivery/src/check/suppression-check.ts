/**
 * The rule by which a delivery of a suppressed user ends: as a dead letter with the reason `suppressed`, without an
 * attempt, and without its body or anything else that the call said. Every other delivery goes on to the check of its
 * destination.
 *
 * Owns nothing: the table of suppressed users has the deliveries that wait for it.
 * V6  No attempt begins for a user who was suppressed when control answered the deletion request. An attempt begins
 *     only while the table is current, that is, was whole within `SUPPRESSION_LEASE_MS`. Control answers this long
 *     after the brokers have the suppression, so that a process that is cut off from the brokers has stopped sending by
 *     then.
 * - While the table is not current, a delivery waits here, in its window, and asks for no permit.
 */
import { isDeliverySuppressed, type SuppressedUsers } from "@posthaste/core/deletion/suppression";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import type { Task } from "@posthaste/kafka/consumer/windowed-consumer";
import type { KeyTable } from "@posthaste/kafka/log/key-table";
import type { IncomingDelivery } from "../intake/incoming-delivery.ts";
import type { CheckedDelivery } from "./checked-delivery.ts";
import type { DestinationCheck, RefusalPort } from "./destination-check.ts";

/** The table of suppressed users, and whether it is current. */
export type KnownSuppressions = SuppressedUsers & Pick<KeyTable, "isCurrent" | "whenCurrent">;

export interface SuppressionCheckOptions {
  readonly suppressed: KnownSuppressions;
  readonly destinationCheck: DestinationCheck;
  readonly refusals: Pick<RefusalPort, "deadLetter">;
  /** Called when the table is current again, to check a delivery that waited for that. */
  readonly checkAgain: (task: Task<IncomingDelivery>, delivery: Delivery) => void;
}

const NO_BODY = Buffer.alloc(0);

export class SuppressionCheck {
  readonly #options: SuppressionCheckOptions;

  constructor(options: SuppressionCheckOptions) {
    this.#options = options;
  }

  /** Returns the delivery for admission; or null when it ended, is held, waits here, or its partition was given up. */
  check(task: Task<IncomingDelivery>, delivery: Delivery): CheckedDelivery | null {
    if (task.window.isRevoked) return null;
    const { suppressed, destinationCheck, refusals, checkAgain } = this.#options;
    if (this.#isSuppressed(task, delivery)) {
      refusals.deadLetter(task, { ...delivery, body: NO_BODY, event: null, restJson: null }, "suppressed");
      return null;
    }
    if (suppressed.isCurrent) return destinationCheck.check(task, delivery);
    suppressed.whenCurrent(() => checkAgain(task, delivery));
    return null;
  }

  /** False when a delivery with a permit must be checked again before it is sent (V3, V6). */
  isCurrent(checked: CheckedDelivery): boolean {
    const { suppressed, destinationCheck } = this.#options;
    if (!suppressed.isCurrent || this.#isSuppressed(checked.task, checked.delivery)) return false;
    return destinationCheck.isCurrent(checked);
  }

  /** Checks a delivery again that waited in admission, and returns as `check` does. */
  renew({ task, delivery }: CheckedDelivery): CheckedDelivery | null {
    return this.check(task, delivery);
  }

  #isSuppressed({ record }: Task<IncomingDelivery>, delivery: Delivery): boolean {
    const { suppressed } = this.#options;
    if (suppressed.size === 0) return false;
    const bodyText = () => Buffer.from(delivery.body).toString();
    return isDeliverySuppressed(suppressed, { delivery, key: record.key?.toString() ?? null, bodyText });
  }
}
