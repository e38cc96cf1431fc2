import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { Button } from "../elements/button.tsx";
import { Field } from "../elements/field.tsx";
import styles from "./session.module.css";
import { signIn } from "./session.ts";

/** Asks for a token. A fault is said at the field, and not which part. */
export function SignInForm({ onSignedIn }: { readonly onSignedIn?: () => void }) {
  const client = useQueryClient();
  const [token, setToken] = useState("");
  const opening = useMutation({
    mutationFn: () => signIn(client, { token: token.trim() }),
    onSuccess: () => {
      setToken("");
      onSignedIn?.();
    },
  });
  return (
    <Form
      className={styles["form"] ?? ""}
      onSubmit={(event) => {
        event.preventDefault();
        if (token.trim() !== "") opening.mutate();
      }}
    >
      {/* A password manager keeps the token under a name. */}
      <input type="text" name="username" autoComplete="username" value="posthaste" readOnly hidden />
      <Field
        label="Token"
        type="password"
        autoComplete="current-password"
        autoFocus
        mono
        value={token}
        onChange={setToken}
        error={opening.error === null ? null : refusalOf(opening.error)}
        hint={
          <>
            No token? Ask the person who runs Posthaste for a sign-in link. On the machine where it runs,{" "}
            <code>npm start</code> prints one and <code>posthaste open</code> makes one.
          </>
        }
      />
      <Button type="submit" look="primary" isPending={opening.isPending}>
        Sign in
      </Button>
    </Form>
  );
}

function refusalOf(error: Error): string {
  return "status" in error && error.status === 401 ? "this token opens nothing here" : error.message;
}
