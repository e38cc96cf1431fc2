/** The order in which a new client tries the brokers. Pure. */

/**
 * Those first that answer, each part in the order given: a client without retries of its own asks no broker but the
 * first, and one that begins with a dead broker costs a pause in a failover.
 */
export function answeringFirst(brokers: readonly string[], answering: readonly string[]): string[] {
  const answers = new Set(answering);
  return [...brokers.filter((each) => answers.has(each)), ...brokers.filter((each) => !answers.has(each))];
}

/** The list, beginning with its n-th member: each new client begins with another broker. */
export function rotate<T>(list: readonly T[], by: number): readonly T[] {
  const from = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(from), ...list.slice(0, from)];
}
