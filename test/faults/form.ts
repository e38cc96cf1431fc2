/** Each fault run has a short form, for every run of the tests, and a long one, for `npm run test:long -- files`. */
export const isLong = process.env["POSTHASTE_LONG"] === "true";

/** How often the long form does what it does: POSTHASTE_FAULT_ROUNDS, else `otherwise`. */
export function longRounds(otherwise: number): number {
  return Number(process.env["POSTHASTE_FAULT_ROUNDS"] || otherwise);
}
