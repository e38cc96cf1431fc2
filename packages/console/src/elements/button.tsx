import type { ReactNode } from "react";
import { Button as AriaButton, type ButtonProps, Tooltip, TooltipTrigger } from "react-aria-components";
import styles from "./elements.module.css";

export interface ActionProps extends Omit<ButtonProps, "children" | "className"> {
  readonly children: ReactNode;
  readonly look?: "primary" | "plain" | "quiet";
  /** Why it cannot be pressed now; it then stays where the keyboard finds it. */
  readonly unavailable?: string | null;
}

/** A button that says why it cannot be pressed. */
export function Button({ look = "plain", unavailable = null, children, onPress, ...others }: ActionProps) {
  const button = (
    <AriaButton
      {...others}
      className={`${styles["button"]} ${styles[look]} ${unavailable === null ? "" : styles["unavailable"]}`}
      {...(unavailable === null ? (onPress === undefined ? {} : { onPress }) : { "aria-disabled": true })}
    >
      {children}
    </AriaButton>
  );
  if (unavailable === null) return button;
  return (
    <TooltipTrigger delay={200}>
      {button}
      <Tooltip className={styles["tooltip"] ?? ""}>{unavailable}</Tooltip>
    </TooltipTrigger>
  );
}
