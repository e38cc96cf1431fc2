/** The clock that core gets as an argument, so that a test of any rule about time can name the moment. */
export interface Clock {
  /** Milliseconds since the Unix epoch; may step when an operator sets the clock. */
  readonly nowMs: () => number;
  /** Milliseconds from an arbitrary origin; never goes back. */
  readonly monotonicMs: () => number;
}
