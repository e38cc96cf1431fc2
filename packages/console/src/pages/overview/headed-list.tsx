import type { ReactNode } from "react";
import styles from "./overview-page.module.css";

export interface HeadedListProps {
  readonly id: string;
  readonly head: string;
  /** False where the text above says the same. */
  readonly isHeadSeen?: boolean;
  /** Its entries. */
  readonly children: ReactNode;
  readonly after?: ReactNode;
}

export function HeadedList({ id, head, isHeadSeen = true, children, after }: HeadedListProps) {
  return (
    <section aria-labelledby={id}>
      <h2 id={id} className={styles[isHeadSeen ? "head" : "heard"]}>
        {head}
      </h2>
      <ul>{children}</ul>
      {after}
    </section>
  );
}
