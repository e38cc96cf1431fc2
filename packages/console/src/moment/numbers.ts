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

/** `412 B`, from a thousand on `32.8 KB`. */
export function bytesOf(bytes: number): string {
  return bytes < 1000 ? `${bytes} B` : `${RATE.format(bytes / 1000)} KB`;
}

/** `1 user`, `5,000 users`. */
export function numbered(count: number, one: string): string {
  return `${countOf(count)} ${one}${count === 1 ? "" : "s"}`;
}
