import { SignInForm } from "../../session/sign-in-form.tsx";
import styles from "./sign-in-page.module.css";

/** `refusal`: why the link that led here opened nothing. */
export function SignInPage({ refusal }: { readonly refusal: string | null }) {
  return (
    <main className={styles["page"]}>
      <title>Sign in · Posthaste</title>
      <div className={styles["card"]}>
        <h1>Sign in to Posthaste</h1>
        {refusal !== null && (
          <p role="alert" className={styles["refusal"]}>
            The sign-in link opened nothing: {refusal}.
          </p>
        )}
        <SignInForm />
      </div>
    </main>
  );
}
