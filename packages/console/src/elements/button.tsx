import type { ReactNode } from "react";
import { Button as AriaButton, type ButtonProps, Tooltip, TooltipTrigger } from "react-aria-components";
import styles from "./elements.module.css";

export interface ActionProps extends Omit<ButtonProps, "children" | "className"> {
  readonly children: ReactNode;
  readonly look?: "primary" | "plain" | "quiet";
  /** Why it cannot be pressed now; it then stays where the keyboard finds it. */
  readonly unavailable?: string | null;
}

/** A button that says why it cannot be pressed, and takes no second press while the first is carried out. */
export function Button(props: ActionProps) {
  const {
    look = "plain",
    unavailable = null,
    isPending = false,
    children,
    onPress,
    type = "button",
    ...others
  } = props;
  const isHeld = unavailable !== null || isPending;
  const button = (
    <AriaButton
      {...others}
      className={`${styles["button"]} ${styles[look] ?? ""} ${unavailable === null ? "" : styles["unavailable"]}`}
      type={isHeld ? "button" : type}
      {...(isHeld ? { "aria-disabled": true } : onPress === undefined ? {} : { onPress })}
    >
      {children}
    </AriaButton>
  );
  return (
    // Around each one: a button that becomes unavailable stays the same, and keeps the focus.
    <TooltipTrigger delay={200} isDisabled={unavailable === null}>
      {button}
      <Tooltip className={styles["tooltip"] ?? ""}>{unavailable}</Tooltip>
    </TooltipTrigger>
  );
}
