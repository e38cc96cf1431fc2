/** The port of the check, the stage after intake. */
import type { Delivery } from "@posthaste/core/delivery/delivery";
import type { Task } from "@posthaste/kafka/consumer/windowed-consumer";
import type { IncomingDelivery } from "./incoming-delivery.ts";

export interface CheckPort {
  /** Takes a delivery over. The check, or a later stage, finishes its task. */
  check(task: Task<IncomingDelivery>, delivery: Delivery): void;
}
