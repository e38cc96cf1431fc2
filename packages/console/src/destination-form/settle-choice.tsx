import { Choice } from "../elements/choice.tsx";
import type { DestinationDraft } from "./destination-draft.ts";
import styles from "./destination-form.module.css";

type Settle = DestinationDraft["settle"];

export interface SettleChoiceProps {
  readonly value: Settle;
  readonly onChange: (settle: Settle) => void;
}

const DRAWN: Readonly<Record<Settle, string>> = {
  any: "Drawn: an event goes to both URLs, and one of their answers is enough",
  each: "Drawn: an event goes to both URLs, and each of them has to take it",
};
const TICK = "l3 3l6 -7";

/** When a delivery is settled, in words and in one drawing: an event, two URLs, and the answers that it takes. */
export function SettleChoice({ value, onChange }: SettleChoiceProps) {
  return (
    <div className={styles["settle"]}>
      <Choice
        label="Every URL gets each event. A delivery is settled"
        value={value}
        choices={[
          ["any", "by the first URL that takes it: if none does, all are tried again"],
          ["each", "by each URL on its own: one that fails is tried again, the others are not"],
        ]}
        onChange={onChange}
      />
      <svg
        role="img"
        aria-label={DRAWN[value]}
        className={styles["drawn"]}
        viewBox="0 0 180 64"
        width="180"
        height="64"
      >
        <circle cx="10" cy="32" r="6" />
        <rect x="76" y="4" width="50" height="24" rx="4" />
        <rect x="76" y="36" width="50" height="24" rx="4" />
        <path d="M17 29L72 16M65 13L72 16L67 21" />
        <path d="M17 35L72 48M67 43L72 48L65 51" />
        {value === "any" ? (
          <path d={`M126 16H136Q142 16 142 24V40Q142 48 136 48H126M142 32H150M158 32${TICK}`} />
        ) : (
          <path d={`M126 16H150M158 16${TICK}M126 48H150M158 48${TICK}`} />
        )}
        <text x="101" y="20">
          URL 1
        </text>
        <text x="101" y="52">
          URL 2
        </text>
      </svg>
    </div>
  );
}
