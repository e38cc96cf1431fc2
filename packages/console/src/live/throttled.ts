import { useEffect, useMemo, useRef } from "react";

/** Asks `read` at once, and then again at most once in `leastMs`, never twice at a time; the last call is not lost. */
export function useThrottled(read: () => Promise<unknown>, leastMs: number): () => void {
  const newest = useRef(read);
  newest.current = read;
  const throttled = useMemo(() => createThrottled(() => newest.current(), leastMs), [leastMs]);
  useEffect(() => throttled.end, [throttled]);
  return throttled.ask;
}

function createThrottled(read: () => Promise<unknown>, leastMs: number) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let [isReading, isAskedAgain, readAtMs] = [false, false, Number.NEGATIVE_INFINITY];
  const run = async (): Promise<void> => {
    timer = undefined;
    isReading = true;
    isAskedAgain = false;
    readAtMs = performance.now();
    await read();
    isReading = false;
    if (isAskedAgain) ask();
  };
  const ask = (): void => {
    if (isReading) isAskedAgain = true;
    else timer ??= setTimeout(() => void run(), Math.max(0, readAtMs + leastMs - performance.now()));
  };
  return { ask, end: () => clearTimeout(timer) };
}
