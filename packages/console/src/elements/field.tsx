import type { ReactNode } from "react";
import { FieldError, Input, Label, Text, TextField, type TextFieldProps } from "react-aria-components";
import styles from "./elements.module.css";

export interface FieldProps extends Omit<TextFieldProps, "className" | "children"> {
  readonly label: string;
  readonly hint?: ReactNode;
  /** The fault of the field's value, and the remedy. */
  readonly error?: string | null;
  readonly mono?: boolean;
  readonly placeholder?: string;
}

/** A line to type in, with its fault beside it. */
export function Field({ label, hint, error = null, mono = false, placeholder, ...others }: FieldProps) {
  return (
    // A fault is said and does not keep from trying again: control decides.
    <TextField {...others} validationBehavior="aria" isInvalid={error !== null} className={styles["field"] ?? ""}>
      <Label className={styles["label"] ?? ""}>{label}</Label>
      <Input
        className={`${styles["input"]} ${mono ? styles["mono"] : ""}`}
        {...(placeholder === undefined ? {} : { placeholder })}
      />
      {hint !== undefined && (
        <Text slot="description" className={styles["hint"] ?? ""}>
          {hint}
        </Text>
      )}
      <FieldError className={styles["error"] ?? ""}>{error}</FieldError>
    </TextField>
  );
}
