/** Dead letters: deliveries that will not be tried again, and why. */

/** The closed list of reasons. */
export const DEAD_LETTER_REASONS = [
  /** The retry window ended. */
  "window_expired",
  /** Every URL answered with a permanent refusal. */
  "rejected_by_receiver",
  /** The address is in a network that webhooks may not reach. */
  "address_refused",
  "destination_disabled",
  "destination_removed",
  /** A deletion asked for it. */
  "suppressed",
] as const;
export type DeadLetterReason = (typeof DEAD_LETTER_REASONS)[number];
