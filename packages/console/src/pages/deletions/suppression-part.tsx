/** Whether a user is suppressed, of which sources, and the end of that. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { asked } from "../../api/asked.ts";
import { call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import { Dialog } from "../../elements/dialog.tsx";
import { Field } from "../../elements/field.tsx";
import { Refusal } from "../../elements/refusal.tsx";
import { Loaded } from "../../listing/loaded.tsx";
import { numbered } from "../../moment/numbers.ts";
import { useNames } from "../../names/names.ts";
import { useMissingScope } from "../../session/session.ts";
import styles from "./deletions.module.css";

export function SuppressionPart() {
  const [typed, setTyped] = useState("");
  const [userId, setUserId] = useState<string | null>(null);
  const client = useQueryClient();
  const look = (): void => {
    setUserId(typed);
    // A second look is for the present state.
    void client.invalidateQueries({ queryKey: ["GET /v1/suppressions"] });
  };
  return (
    <section aria-labelledby="suppression" className={styles["suppression"]}>
      <h2 id="suppression">Is a user suppressed?</h2>
      <Form
        className={styles["lookup"] ?? ""}
        onSubmit={(event) => {
          event.preventDefault();
          if (typed !== "") look();
        }}
      >
        <Field label="User id" mono autoComplete="off" value={typed} onChange={setTyped} />
        <Button type="submit" unavailable={typed === "" ? "it needs a user id" : null}>
          Look
        </Button>
      </Form>
      {userId !== null && <Suppressed key={userId} userId={userId} />}
    </section>
  );
}

function Suppressed({ userId }: { readonly userId: string }) {
  const query = useQuery(asked("GET /v1/suppressions", { query: { userId } }));
  const nameOf = useNames();
  const unavailable = useMissingScope("write");
  const [ending, setEnding] = useState<Ending | null>(null);
  return (
    <Loaded query={query} what="suppressions" rows={1} isNamed>
      {({ sourceIds }) => (
        <>
          <p role="status">
            {sourceIds.length === 0 ? "Not suppressed" : `Suppressed, of ${numbered(sourceIds.length, "source")}`}:{" "}
            <code>{userId}</code>
            {sourceIds.length === 0 && ". What comes of this user is delivered."}
          </p>
          <ul>
            {sourceIds.map((sourceId) => (
              <li key={sourceId} className={styles["suppressed"]}>
                <span>{nameOf(sourceId)}</span>
                <Button
                  aria-label={`End it for ${nameOf(sourceId)}`}
                  unavailable={unavailable}
                  onPress={() => setEnding({ sourceId })}
                >
                  End it
                </Button>
              </li>
            ))}
          </ul>
          {sourceIds.length > 1 && (
            <div>
              <Button unavailable={unavailable} onPress={() => setEnding({ sourceId: null })}>
                End it for all
              </Button>
            </div>
          )}
          {ending !== null && <EndDialog userId={userId} ending={ending} onClose={() => setEnding(null)} />}
        </>
      )}
    </Loaded>
  );
}

/** Null for every source. */
interface Ending {
  readonly sourceId: string | null;
}

interface EndDialogProps {
  readonly userId: string;
  readonly ending: Ending;
  readonly onClose: () => void;
}

function EndDialog({ userId, ending: { sourceId }, onClose }: EndDialogProps) {
  const client = useQueryClient();
  const nameOf = useNames();
  const ending = useMutation({
    mutationFn: () =>
      call("DELETE /v1/suppressions", { query: { userId, ...(sourceId === null ? {} : { sourceId }) } }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["GET /v1/suppressions"] });
      onClose();
    },
  });
  return (
    <Dialog
      title="End the suppression?"
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Keep it</Button>
          <Button look="primary" isPending={ending.isPending} onPress={() => ending.mutate()}>
            End it
          </Button>
        </>
      }
    >
      <p>
        What {sourceId === null ? "any source" : nameOf(sourceId)} sends of <code>{userId}</code> from then on is
        delivered again. What was dropped meanwhile is not, and receivers that were told to delete the user are not told
        otherwise.
      </p>
      <Refusal error={ending.error} />
    </Dialog>
  );
}
