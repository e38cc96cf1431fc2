/** An error with its cause, as a violation tells it. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.stack})` : "";
  return `${error.message}${cause}`;
}
