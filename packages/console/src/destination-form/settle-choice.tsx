import { Choice } from "../elements/choice.tsx";
import type { DestinationDraft } from "./destination-draft.ts";
import styles from "./destination-form.module.css";

type Settle = DestinationDraft["settle"];

export interface SettleChoiceProps {
  readonly value: Settle;
  readonly onChange: (settle: Settle) => void;
}

const DRAWN: Readonly<Record<Settle, string>> = {
  any: "Drawn: an event goes to the first URL, and to the second where the first did not take it",
  each: "Drawn: an event goes to both URLs, whatever the other one answers",
};

/** When a delivery is done with, in words and in one drawing: an event, and two URLs that it goes to. */
export function SettleChoice({ value, onChange }: SettleChoiceProps) {
  return (
    <div className={styles["settle"]}>
      <Choice
        label="A delivery is settled"
        value={value}
        choices={[
          ["any", "when any URL took it: the next one is for when the first fails"],
          ["each", "by each URL on its own: all of them get every event"],
        ]}
        onChange={onChange}
      />
      <svg
        role="img"
        aria-label={DRAWN[value]}
        className={styles["drawn"]}
        viewBox="0 0 150 64"
        width="150"
        height="64"
      >
        <circle cx="10" cy={value === "any" ? 16 : 32} r="6" />
        <rect x="96" y="4" width="50" height="24" rx="4" />
        <rect x="96" y="36" width="50" height="24" rx="4" />
        <path d={value === "any" ? "M18 16H92M86 11L92 16L86 21" : "M17 29L92 16M85 13L92 16L87 21"} />
        {value === "any" ? (
          <path strokeDasharray="4 3" d="M56 16V48H92M86 43L92 48L86 53" />
        ) : (
          <path d="M17 35L92 48M87 43L92 48L85 51" />
        )}
        <text x="121" y="20">
          URL 1
        </text>
        <text x="121" y="52">
          URL 2
        </text>
      </svg>
    </div>
  );
}
