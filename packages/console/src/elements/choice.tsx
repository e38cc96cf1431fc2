import styles from "./elements.module.css";

export interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly choices: readonly (readonly [value: Value, words: string])[];
  readonly onChange: (value: Value) => void;
}

/** One of some. */
export function Choice<Value extends string>({ label, value, choices, onChange }: ChoiceProps<Value>) {
  return (
    <label className={styles["choice"]}>
      {label}
      <select
        value={value}
        onChange={(event) => {
          const chosen = choices.find(([each]) => each === event.target.value);
          if (chosen !== undefined) onChange(chosen[0]);
        }}
      >
        {choices.map(([each, words]) => (
          <option key={each} value={each}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
