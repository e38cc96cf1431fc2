import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { Form } from "react-aria-components";
import { call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import { Choice } from "../../elements/choice.tsx";
import { Dialog } from "../../elements/dialog.tsx";
import elements from "../../elements/elements.module.css";
import { Field } from "../../elements/field.tsx";
import { Refusal } from "../../elements/refusal.tsx";
import { KINDS, type Kind } from "./source-kinds.ts";

/** Makes a source and goes to its page, where its write key stands. */
export function NewSourceDialog({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient();
  const router = useRouter();
  const [name, setName] = useState("");
  const [kind, setKind] = useState<Kind>("web");
  const making = useMutation({
    mutationFn: () => call("POST /v1/sources", { body: { name: name.trim(), kind } }),
    onSuccess: async ({ id }) => {
      router.history.push(`/sources/${id}`);
      await client.invalidateQueries({ queryKey: ["GET /v1/sources"] });
    },
  });
  return (
    <Dialog title="New source" isOpen onClose={onClose}>
      <Form
        className={elements["form"] ?? ""}
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== "") making.mutate();
        }}
      >
        <Field label="Name" autoFocus value={name} onChange={setName} />
        <Choice label="Kind" value={kind} choices={KINDS} onChange={setKind} />
        <Refusal error={making.error} />
        <Button
          type="submit"
          look="primary"
          isPending={making.isPending}
          unavailable={name.trim() === "" ? "it needs a name" : null}
        >
          Make it
        </Button>
      </Form>
    </Dialog>
  );
}
