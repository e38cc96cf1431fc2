/** How long until something is asked for again whose end nobody tells. */
import { useState } from "react";

export interface Asking {
  readonly leastMs: number;
  readonly mostMs: number;
}

/** A share of the time waited so far. */
const SHARE = 0.1;

/**
 * About a share of the time waited until now, so that an early change is seen soon and a tab left open costs next to
 * nothing. In steps of twice, since the timer of a query begins anew whenever its interval is another.
 */
export function againMs({ leastMs, mostMs }: Asking, waitedMs: number): number {
  const steps = Math.floor(Math.log2(Math.max(1, (waitedMs * SHARE) / leastMs)));
  return Math.min(mostMs, leastMs * 2 ** steps);
}

/** The same of the time waited since it is shown. */
export function useAgain(asking: Asking): () => number {
  const [sinceMs] = useState(() => Date.now());
  return () => againMs(asking, Date.now() - sinceMs);
}
