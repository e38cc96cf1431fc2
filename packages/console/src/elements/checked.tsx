import type { ReactNode } from "react";
import { Checkbox, type CheckboxProps } from "react-aria-components";
import styles from "./elements.module.css";

export interface CheckedProps extends Omit<CheckboxProps, "children" | "className"> {
  readonly children: ReactNode;
}

/** A box to tick, with its words. */
export function Checked({ children, ...others }: CheckedProps) {
  return (
    <Checkbox {...others} className={styles["check"] ?? ""}>
      <span className={styles["box"]} aria-hidden />
      <span>{children}</span>
    </Checkbox>
  );
}
