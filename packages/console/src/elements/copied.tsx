import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { Button } from "react-aria-components";
import { copyText } from "./clipboard.ts";
import styles from "./elements.module.css";

/** How long it says that it was copied. */
const SAID_MS = 1500;

export interface CopiedProps {
  /** What it is, for who cannot see it: "message id". */
  readonly what: string;
  readonly text: string;
  /** What stands on the page; the text itself where it is absent. */
  readonly shown?: string;
}

/** A text in mono with a button that copies it. */
export function Copied({ what, text, shown = text }: CopiedProps) {
  return (
    <span className={styles["copy"]}>
      <code>{shown}</code>
      <CopyButton what={what} text={text} />
    </span>
  );
}

export function CopyButton({ what, text }: Omit<CopiedProps, "shown">) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    if (!(await copyText(text))) return;
    setCopied(true);
    setTimeout(() => setCopied(false), SAID_MS);
  };
  return (
    <Button
      className={styles["copyButton"] ?? ""}
      aria-label={isCopied ? `Copied the ${what}` : `Copy the ${what}`}
      onPress={() => void copy()}
    >
      {isCopied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
    </Button>
  );
}
