import { useEffect, useRef, useState } from "react";

/** A screen reader is told no more often. */
const CALM_MS = 5000;

/** The spoken text of something that may change each second: at once, then once in five seconds, the newest. */
export function useCalm(text: string): string {
  const [reported, setReported] = useState(text);
  const reportedAtMs = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    if (text === reported) return;
    const timer = setTimeout(
      () => {
        reportedAtMs.current = performance.now();
        setReported(text);
      },
      Math.max(0, reportedAtMs.current + CALM_MS - performance.now()),
    );
    return () => clearTimeout(timer);
  }, [text, reported]);
  return reported;
}
