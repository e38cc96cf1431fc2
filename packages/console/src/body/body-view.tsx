import { useMemo, useState } from "react";
import { ToggleButton, ToggleButtonGroup } from "react-aria-components";
import { Button } from "../elements/button.tsx";
import { CopyButton } from "../elements/copied.tsx";
import styles from "./body.module.css";
import { jsonTokens, type Token } from "./json-tokens.ts";
import { lineBlocks } from "./line-blocks.ts";
import { prettyJson } from "./pretty-json.ts";

/** More is cut: nobody reads it here. */
const MOST_CHARS = 65_536;
/** The rest is in one colour: each token that is told apart costs the browser an element. */
const MOST_TOKENS = 1000;

type Look = "pretty" | "raw";

export interface BodyViewProps {
  readonly body: string;
  /** Of the file that is saved. */
  readonly fileName: string;
}

/** A body to read: over lines or as it is sent, cut where it is long, whole as a file. */
export function BodyView({ body, fileName }: BodyViewProps) {
  const [look, setLook] = useState<Look>("pretty");
  const pretty = useMemo(() => prettyJson(body, MOST_CHARS), [body]);
  const whole = look === "pretty" && pretty !== null ? pretty : body;
  const isCut = whole.length > MOST_CHARS;
  return (
    <div className={styles["view"]}>
      <div className={styles["bar"]}>
        {pretty !== null && (
          <ToggleButtonGroup
            aria-label="Body"
            className={styles["looks"] ?? ""}
            disallowEmptySelection
            selectedKeys={[look]}
            onSelectionChange={(keys) => setLook(keys.has("raw") ? "raw" : "pretty")}
          >
            <ToggleButton id="pretty" className={styles["look"] ?? ""}>
              Pretty
            </ToggleButton>
            <ToggleButton id="raw" className={styles["look"] ?? ""}>
              Raw
            </ToggleButton>
          </ToggleButtonGroup>
        )}
        <span className={styles["size"]}>{new Blob([body]).size.toLocaleString("en-GB")} bytes</span>
        <CopyButton what="body" text={body} />
        <Button look="quiet" onPress={() => save(body, fileName)}>
          Download
        </Button>
      </div>
      <pre className={styles["body"]}>
        <Lines text={whole.slice(0, MOST_CHARS)} />
      </pre>
      {isCut && (
        <p className={styles["size"]}>Cut after {MOST_CHARS.toLocaleString("en-GB")} characters: the file has all.</p>
      )}
    </div>
  );
}

/** All of it is in the page, to be searched and copied; below the first block the browser lays out the visible part. */
function Lines({ text }: { readonly text: string }) {
  const blocks = useMemo(() => colouredBlocks(text), [text]);
  return blocks.map((tokens, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a block is told apart by its place
    <div key={index} {...(index === 0 ? {} : { className: styles["block"] })}>
      <Tokens tokens={tokens} />
    </div>
  ));
}

function colouredBlocks(text: string): readonly (readonly Token[])[] {
  let left = MOST_TOKENS;
  return lineBlocks(text).map((block) => {
    const tokens = jsonTokens(block, left);
    left -= tokens.filter(({ kind }) => kind !== "plain").length;
    return tokens;
  });
}

function Tokens({ tokens }: { readonly tokens: readonly Token[] }) {
  return tokens.map(({ kind, text: part }, index) =>
    kind === "plain" ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: a token is told apart by its place
      <span key={index} className={styles[kind]}>
        {part}
      </span>
    ),
  );
}

function save(body: string, fileName: string): void {
  const url = URL.createObjectURL(new Blob([body], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(url);
}
