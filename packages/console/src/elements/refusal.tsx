import styles from "./elements.module.css";

/** Why something was not done; nothing where it was. */
export function Refusal({ error }: { readonly error: Error | null }) {
  if (error === null) return null;
  return (
    <p role="alert" className={styles["error"]}>
      {error.message}
    </p>
  );
}
