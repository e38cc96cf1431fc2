/** A reason for a consumer to stop taking records in while its windows still have space. */
export interface Backpressure {
  /** True while the consumer must take nothing in. The consumer reads it before each record that it takes in. */
  readonly isHolding: boolean;
  /**
   * The implementation calls `listener` each time `isHolding` falls back to false, if the consumer had read it as true.
   */
  onReleased(listener: () => void): void;
}
