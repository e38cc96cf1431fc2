/** Where an event stands. */
export interface EventPlace {
  readonly partition: number;
  readonly offset: number;
}
