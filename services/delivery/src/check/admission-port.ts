/** The port of admission, the stage after the check. */
import type { CheckedDelivery } from "./checked-delivery.ts";

export interface AdmissionPort {
  /** Takes a delivery over. Admission, or a later stage, finishes its task. */
  admit(checked: CheckedDelivery): void;
}
