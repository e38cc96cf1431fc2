/** The words of a verdict on one thing. */
export interface VerdictText {
  readonly sentence: string;
  /** A command line; null where there is nothing to do. */
  readonly command: string | null;
}
