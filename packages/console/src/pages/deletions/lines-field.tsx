import { FieldError, Label, Text, TextArea, TextField } from "react-aria-components";
import elements from "../../elements/elements.module.css";
import styles from "./deletions.module.css";

export interface LinesFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint: string;
  /** The fault of the lines, and its line. */
  readonly error: string | null;
}

/** Lines to type or to paste, with their count beside them. */
export function LinesField({ label, value, onChange, hint, error }: LinesFieldProps) {
  return (
    <TextField
      autoFocus
      value={value}
      onChange={onChange}
      isInvalid={error !== null}
      validationBehavior="aria"
      className={elements["field"] ?? ""}
    >
      <Label className={elements["label"] ?? ""}>{label}</Label>
      <TextArea
        rows={6}
        spellCheck={false}
        autoComplete="off"
        className={`${elements["input"]} ${elements["mono"]} ${styles["lines"]}`}
      />
      <Text slot="description" className={elements["hint"] ?? ""}>
        {hint}
      </Text>
      <FieldError className={elements["error"] ?? ""}>{error}</FieldError>
    </TextField>
  );
}
