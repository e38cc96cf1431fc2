/** The keys of the row with the focus: `c` copies its id, `r` sends it again. */
import { useState } from "react";
import { copyText } from "../elements/clipboard.ts";
import { usePageKey } from "../keys/page-keys.ts";
import { focusedRowKey, pressRowResend } from "../keys/rows.ts";

/** How long it says that something was copied. */
const COPIED_MS = 1500;

export interface Copied {
  readonly text: string;
  /** False where the browser kept its clipboard from the page. */
  readonly isCopied: boolean;
}

export interface RowKeysProps<Row> {
  readonly idOf: (row: Row) => string;
  readonly copyOf?: (row: Row) => string;
}

/** Returns the text copied a moment ago. */
export function useRowKeys<Row>({ idOf, copyOf }: RowKeysProps<Row>, shown: readonly Row[]): Copied | null {
  const [copied, setCopied] = useState<Copied | null>(null);
  const copy = async (): Promise<void> => {
    const key = focusedRowKey();
    const row = key === null ? undefined : shown.find((each) => idOf(each) === key);
    if (row === undefined || copyOf === undefined) return;
    setCopied({ text: copyOf(row), isCopied: await copyText(copyOf(row)) });
    setTimeout(() => setCopied(null), COPIED_MS);
  };
  usePageKey("c", copyOf === undefined ? null : () => void copy());
  usePageKey("r", pressRowResend);
  return copied;
}

export function CopiedRow({ copied }: { readonly copied: Copied | null }) {
  return (
    <span role="status">
      {copied !== null && (
        <>
          {copied.isCopied ? "copied" : "not copied, the browser does not let it:"} <code>{copied.text}</code>{" "}
        </>
      )}
    </span>
  );
}
