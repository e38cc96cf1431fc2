/** One clock for all processes of a machine, so that one can tell another when something happened. */

/** The result of `toOwnMs` may be so much too early. */
export const PRECISION_MS = 1;

/** Now, in ms of that clock. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1_000_000;
}

/** Returns the same moment in ms of this process's `performance.now()`. */
export function toOwnMs(atMachineMs: number): number {
  return atMachineMs + aheadMs;
}

const aheadMs = ownAheadMs();

/** Of the machine's clock. Asked again where the process was stopped between looking at the one and at the other. */
function ownAheadMs(): number {
  for (;;) {
    const ownMs = performance.now();
    const aheadOfMachineMs = ownMs - machineMs();
    if (performance.now() - ownMs < PRECISION_MS) return aheadOfMachineMs;
  }
}
