/**
 * The second stage of a delivery. It waits until the table of destinations has come far enough. Then it ends the
 * delivery of a suppressed user, and the newest state of the destination passes any other delivery to admission, ends
 * it or holds it.
 *
 * Owns: the wait of deliveries for the table of destinations.
 * V1  A delivery is checked only once the table has read as far as the router had when it routed the delivery: a table
 *     that lags would take a new destination for a removed one.
 * V4  Every delivery is finished when it was delivered or republished; otherwise its record stays in its window until
 *     the partition's next owner reads it.
 * V5  No attempt starts after the end of the delivery's retry window, wherever the delivery waited, but the last
 *     attempt that it is owed. Admission keeps this rule, when a delivery enters it and when a delivery leaves it.
 */

import type { Destination } from "@posthaste/core/config/destination";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import type { Log } from "@posthaste/core/log";
import type { Task } from "@posthaste/kafka/consumer/windowed-consumer";
import type { Table } from "@posthaste/kafka/log/table";
import type { IncomingDelivery } from "../intake/incoming-delivery.ts";
import { toError } from "../to-error.ts";
import type { AdmissionPort } from "./admission-port.ts";
import { ConfigWait } from "./config-wait.ts";
import type { SuppressionCheck } from "./suppression-check.ts";

export interface CheckOptions {
  readonly destinations: Pick<Table<Destination>, "appliedOffset" | "waitForOffset" | "refresh">;
  readonly suppressionCheck: SuppressionCheck;
  readonly admission: AdmissionPort;
  readonly log: Log;
  /** This or a later stage threw where nobody catches: a bug. */
  readonly onFailure: (reason: Error) => void;
}

export class Check {
  readonly #options: CheckOptions;
  readonly #configWait: ConfigWait;

  constructor(options: CheckOptions) {
    this.#options = options;
    this.#configWait = new ConfigWait(options);
  }

  check(task: Task<IncomingDelivery>, delivery: Delivery): void {
    this.#configWait.whenKnown(delivery.configOffset, () => this.#checkNow(task, delivery));
  }

  /** Ends the waits. The records that waited stay in their windows, for the partition's next owner to read. */
  close(): void {
    this.#configWait.close();
  }

  #checkNow(task: Task<IncomingDelivery>, delivery: Delivery): void {
    const { suppressionCheck, admission, onFailure } = this.#options;
    try {
      const checked = suppressionCheck.check(task, delivery);
      if (checked !== null) admission.admit(checked);
    } catch (error) {
      onFailure(toError(error));
    }
  }
}
