/** What the check needs of the next stage, admission. */
import type { CheckedDelivery } from "./checked-delivery.ts";

export interface AdmissionPort {
  /** Takes a delivery over. Admission, or a later stage, finishes its task. */
  admit(checked: CheckedDelivery): void;
}
