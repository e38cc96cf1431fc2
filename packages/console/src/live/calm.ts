import { useEffect, useRef, useState } from "react";

/** Whoever hears the page is told no more often. */
const CALM_MS = 5000;

/** What is to be heard of something that may change each second: at once, then once in five seconds, the newest. */
export function useCalm(text: string): string {
  const [told, setTold] = useState(text);
  const toldAtMs = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    if (text === told) return;
    const timer = setTimeout(
      () => {
        toldAtMs.current = performance.now();
        setTold(text);
      },
      Math.max(0, toldAtMs.current + CALM_MS - performance.now()),
    );
    return () => clearTimeout(timer);
  }, [text, told]);
  return told;
}
