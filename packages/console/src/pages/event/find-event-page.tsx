import { useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { Form } from "react-aria-components";
import { Button } from "../../elements/button.tsx";
import { Field } from "../../elements/field.tsx";
import styles from "./event-page.module.css";

/** The way to a verdict for who has a message id in the hand. */
export function FindEventPage() {
  const router = useRouter();
  const [id, setId] = useState("");
  return (
    <>
      <title>Events · Posthaste</title>
      <h1>Why did it not arrive?</h1>
      <Form
        className={styles["find"] ?? ""}
        onSubmit={(event) => {
          event.preventDefault();
          if (id.trim() !== "") router.history.push(`/events/${encodeURIComponent(id.trim())}`);
        }}
      >
        <Field
          label="Message id"
          mono
          value={id}
          onChange={setId}
          hint={
            <>
              The <code>messageId</code> of the call; a receiver has it in <code>X-Message-Id</code>.
            </>
          }
        />
        <Button type="submit" look="primary">
          Find out
        </Button>
      </Form>
    </>
  );
}
