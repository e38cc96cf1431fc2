/** Where an event stands in the events topic. */
export interface EventPlace {
  readonly partition: number;
  readonly offset: number;
}
