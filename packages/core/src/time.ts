/** Time arrives in core as an argument, so that every rule about time can be tested by naming the moment. */
export interface Clock {
  /** Milliseconds since the Unix epoch; may step when an operator sets the clock. */
  readonly nowMs: () => number;
  /** Milliseconds from an arbitrary origin; never goes back. */
  readonly monotonicMs: () => number;
}
