import { createSecret } from "../../destination-form/shared-secret.ts";
import { Checked } from "../../elements/checked.tsx";
import { Copied } from "../../elements/copied.tsx";
import styles from "./connect.module.css";

export interface SecretChoiceProps {
  /** Empty for none. */
  readonly sharedSecret: string;
  readonly onChange: (sharedSecret: string) => void;
}

/** Whether requests are signed; the secret is made here, and shown here alone. */
export function SecretChoice({ sharedSecret, onChange }: SecretChoiceProps) {
  return (
    <section aria-label="Signature" className={styles["part"]}>
      <h2>3 Signature</h2>
      <Checked isSelected={sharedSecret !== ""} onChange={(isOn) => onChange(isOn ? createSecret() : "")}>
        Sign each request, so that the receiver knows who sent it
      </Checked>
      {sharedSecret !== "" && (
        <>
          <p className={styles["detail"]}>The receiver checks X-Signature by this secret. It is not shown again.</p>
          <Copied what="shared secret" text={sharedSecret} />
        </>
      )}
    </section>
  );
}
