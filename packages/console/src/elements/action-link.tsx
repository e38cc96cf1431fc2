import type { ReactNode } from "react";
import { Link } from "react-aria-components";
import { Button } from "./button.tsx";
import styles from "./elements.module.css";

export interface ActionLinkProps {
  readonly href: string;
  readonly look?: "primary" | "plain";
  /** Why it leads nowhere now. */
  readonly unavailable?: string | null;
  /** In words that do without the text around it. */
  readonly label?: string;
  /** It has the focus when it comes. */
  readonly autoFocus?: boolean;
  readonly children: ReactNode;
}

/** A way to a page where something is done, that looks like a button. */
export function ActionLink(props: ActionLinkProps) {
  const { href, look = "plain", unavailable = null, label, autoFocus = false, children } = props;
  if (unavailable !== null) return <Button unavailable={unavailable}>{children}</Button>;
  return (
    <Link
      href={href}
      autoFocus={autoFocus}
      className={`${styles["button"]} ${styles["asLink"]} ${styles[look] ?? ""}`}
      {...(label === undefined ? {} : { "aria-label": label })}
    >
      {children}
    </Link>
  );
}
