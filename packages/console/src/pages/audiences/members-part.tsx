import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Form } from "react-aria-components";
import type { AudienceMember, MembersChange } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import elements from "../../elements/elements.module.css";
import { Field } from "../../elements/field.tsx";
import { Refusal } from "../../elements/refusal.tsx";
import { MomentText } from "../../moment/moment-text.tsx";
import { useMissingScope } from "../../session/session.ts";
import styles from "./audiences.module.css";

/** An act on a user. */
type Act = "look up" | "add" | "remove";

interface Reported {
  readonly userId: string;
  readonly words: ReactNode;
}

/** One user: whether they are in the audience; and put into it, or taken out, while everybody else stays. */
export function MembersPart({ audienceId }: { readonly audienceId: string }) {
  const client = useQueryClient();
  const missingScope = useMissingScope("write");
  const [userId, setUserId] = useState("");
  const params = { id: audienceId };
  const acting = useMutation({
    mutationFn: async (act: Act): Promise<Reported> => {
      if (act === "look up") {
        const member = await call("GET /v1/audiences/{id}/members/{userId}", { params: { ...params, userId } });
        return { userId, words: memberWords(member) };
      }
      const change = await call("PATCH /v1/audiences/{id}/members", { params, body: { [act]: [userId] } });
      return { userId, words: changeWords(act, change) };
    },
    onSuccess: (_, act) =>
      act === "look up"
        ? undefined
        : client.invalidateQueries({ queryKey: asked("GET /v1/audiences/{id}", { params }).queryKey }),
  });
  const unnamed = userId === "" ? "name a user" : null;
  const unavailable = missingScope ?? unnamed;
  const { data, error, isPending } = acting;
  return (
    <section className={styles["part"]} aria-label="Membership">
      <h2>Membership</h2>
      <Form
        className={elements["form"] ?? ""}
        onSubmit={(event) => {
          event.preventDefault();
          if (unnamed === null) acting.mutate("look up");
        }}
      >
        <Field label="User id" mono value={userId} onChange={setUserId} />
        <div className={styles["acts"]}>
          <Button type="submit" isPending={isPending} unavailable={unnamed}>
            Look up
          </Button>
          <Button isPending={isPending} unavailable={unavailable} onPress={() => acting.mutate("add")}>
            Add
          </Button>
          <Button isPending={isPending} unavailable={unavailable} onPress={() => acting.mutate("remove")}>
            Remove
          </Button>
        </div>
      </Form>
      <p role="status">
        {data !== undefined && (
          <>
            <code>{data.userId}</code> {data.words}
          </>
        )}
      </p>
      <Refusal error={error} />
    </section>
  );
}

function memberWords({ member, since }: AudienceMember): ReactNode {
  if (since === null) return "was never in it.";
  return (
    <>
      {member ? "is in it since" : "is not in it since"} <MomentText at={since} withDistance />
    </>
  );
}

function changeWords(act: "add" | "remove", { unchanged }: MembersChange): string {
  if (act === "add") return unchanged > 0 ? "was in it already." : "is in it from now on.";
  return unchanged > 0 ? "was not in it." : "is not in it from now on.";
}
