/** The order in which a new client tries the brokers. Pure. */

/**
 * Moves the brokers that answer to the front and keeps the order among them and among the others. A client without
 * retries asks only the first broker, so a dead one at the front would cost a failover a pause.
 */
export function answeringFirst(brokers: readonly string[], answering: readonly string[]): string[] {
  const answers = new Set(answering);
  return [...brokers.filter((each) => answers.has(each)), ...brokers.filter((each) => !answers.has(each))];
}

/** The list rotated so that it begins at index `by` (modulo its length): each new client begins with another broker. */
export function rotate<T>(list: readonly T[], by: number): readonly T[] {
  const from = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(from), ...list.slice(0, from)];
}
