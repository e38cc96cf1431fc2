import { useRef } from "react";

/** Over how long the speed is taken. */
const SPAN_MS = 5000;

interface Look {
  readonly atMs: number;
  readonly count: number;
}

/** The growth of a repeatedly read count in a second; null before the second look. */
export function useSpeed(count: number, atMs: number): number | null {
  const looks = useRef<readonly Look[]>([]);
  if (looks.current.at(-1)?.atMs !== atMs) {
    looks.current = [...looks.current.filter((look) => atMs - look.atMs <= SPAN_MS), { atMs, count }];
  }
  const [first] = looks.current;
  if (first === undefined || first.atMs === atMs) return null;
  return ((count - first.count) / (atMs - first.atMs)) * 1000;
}
