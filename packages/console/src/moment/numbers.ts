/** Numbers in words. */

const COUNT = new Intl.NumberFormat("en-GB");
const RATE = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 1 });

/** `12,345`. */
export function countOf(count: number): string {
  return COUNT.format(count);
}

/** `1,204` from a hundred on, else `7.3`; a dash where it is not known. */
export function rateOf(perSecond: number | null): string {
  if (perSecond === null) return "–";
  return perSecond >= 100 ? COUNT.format(Math.round(perSecond)) : RATE.format(perSecond);
}
