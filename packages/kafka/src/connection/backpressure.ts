/** What holds a consumer's intake back beside the limits of its windows. */
export interface Backpressure {
  /** True while nothing is to be taken in. Asked before each record, so that what one becomes counts for the next. */
  readonly isHolding: boolean;
  /** `listener` is called whenever it was seen to hold and holds no more. */
  onReleased(listener: () => void): void;
}
