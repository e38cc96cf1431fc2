/** Each fault run has a short form, for every run of the tests, and a long one, for `npm run test:long -- files`. */
export const isLong = process.env["POSTHASTE_LONG"] === "true";

/** The rows of a table of cases: all of them in the long form, and the named one in the short. */
export function rowsOf<T extends readonly [name: string, ...rest: unknown[]]>(rows: readonly T[], short: string) {
  return isLong ? rows : rows.filter(([name]) => name === short);
}

/** The number of rounds of the long form: POSTHASTE_FAULT_ROUNDS, else `otherwise`. */
export function longRounds(otherwise: number): number {
  return Number(process.env["POSTHASTE_FAULT_ROUNDS"] || otherwise);
}

/** The seed of a file's random choices: POSTHASTE_FAULT_SEED, which repeats them, or another each time. Prints it. */
export function printSeed(of: string): number {
  const seed = Number(process.env["POSTHASTE_FAULT_SEED"] || Date.now() % 2 ** 31);
  process.stdout.write(`${of}: POSTHASTE_FAULT_SEED=${seed}\n`);
  return seed;
}
