import { Check, Copy, X } from "lucide-react";
import { useState } from "react";
import { Button } from "react-aria-components";
import { copyText } from "./clipboard.ts";
import styles from "./elements.module.css";
import { shortId } from "./short-text.ts";

/** How long it says that it was copied, or that it was not. */
const SAID_MS = 1500;

const WORDS = { idle: "Copy the", copied: "Copied the", kept: "Not copied, the browser does not let it: the" };
const ICONS = { idle: Copy, copied: Check, kept: X };

export interface CopiedProps {
  /** The meaning of the text, for screen readers: "message id". */
  readonly what: string;
  readonly text: string;
  /** The text on the page; the text itself where it is absent. */
  readonly shown?: string;
}

/** A text in mono with a button that copies it. */
export function Copied({ what, text, shown = text }: CopiedProps) {
  return (
    <span className={styles["copy"]}>
      <code {...(shown === text ? {} : { title: text })}>{shown}</code>
      <CopyButton what={what} text={text} />
    </span>
  );
}

/** An id in a row of a list: the whole of it is copied, and stands in the title. */
export function CopiedId({ what, id }: { readonly what: string; readonly id: string }) {
  return <Copied what={what} text={id} shown={shortId(id)} />;
}

export function CopyButton({ what, text }: Omit<CopiedProps, "shown">) {
  const [state, setState] = useState<keyof typeof WORDS>("idle");
  const copy = async () => {
    setState((await copyText(text)) ? "copied" : "kept");
    setTimeout(() => setState("idle"), SAID_MS);
  };
  const Icon = ICONS[state];
  return (
    <Button
      className={styles["copyButton"] ?? ""}
      data-copy
      aria-label={`${WORDS[state]} ${what}`}
      onPress={() => void copy()}
    >
      <Icon size={14} aria-hidden />
    </Button>
  );
}
