import type { Tone } from "./cause.ts";
import styles from "./verdict.module.css";

const SHAPES: Readonly<Record<Tone, string>> = { good: "●", waiting: "▲", bad: "■", off: "◌" };

export interface MarkProps {
  readonly tone: Tone;
  readonly children: string;
}

/** A state by its shape, its colour and its word. */
export function Mark({ tone, children }: MarkProps) {
  return (
    <span className={styles[tone]}>
      <span aria-hidden>{SHAPES[tone]} </span>
      {children}
    </span>
  );
}
