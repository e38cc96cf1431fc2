/** Writes at a steady rate, whatever the brokers take for them, so that slow ones do not slow the load down. */

/** So often that few records, ten at 2,000 a second, are written at once and wait for one another. */
const WRITE_EVERY_MS = 5;

/**
 * Calls `write` with how many are due, so many times that it is `perSecond` for `seconds`; resolves when all are
 * written.
 */
export async function writeSteadily(
  perSecond: number,
  seconds: number,
  write: (count: number) => Promise<void>,
): Promise<void> {
  const total = perSecond * seconds;
  const startedMs = performance.now();
  const writes: Promise<void>[] = [];
  let written = 0;
  for (let turn = 1; written < total; turn += 1) {
    const due = Math.min(total, Math.floor((perSecond * (performance.now() - startedMs + WRITE_EVERY_MS)) / 1000));
    if (due > written) writes.push(write(due - written));
    written = due;
    await new Promise((resolve) => setTimeout(resolve, startedMs + turn * WRITE_EVERY_MS - performance.now()));
  }
  await Promise.all(writes);
}
