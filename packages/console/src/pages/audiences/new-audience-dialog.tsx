import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { Form } from "react-aria-components";
import { ApiProblem, call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import { Choice } from "../../elements/choice.tsx";
import { Dialog } from "../../elements/dialog.tsx";
import elements from "../../elements/elements.module.css";
import { Field } from "../../elements/field.tsx";
import { Refusal } from "../../elements/refusal.tsx";
import { allSources } from "../../names/names.ts";

/** Makes an audience and goes to its page, where its trait stands. */
export function NewAudienceDialog({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient();
  const router = useRouter();
  const { data: sources, error } = useQuery(allSources);
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<string | null>(null);
  const sourceId = chosen ?? sources?.[0]?.id ?? null;
  const making = useMutation({
    mutationFn: (of: string) => call("POST /v1/audiences", { body: { name: name.trim(), sourceId: of } }),
    onSuccess: async ({ id }) => {
      router.history.push(`/audiences/${id}`);
      await client.invalidateQueries({ queryKey: ["GET /v1/audiences"] });
    },
  });
  const ofName = nameRefusal(making.error);
  const unavailable = name.trim() === "" ? "it needs a name" : sourceId === null ? "it needs a source" : null;
  return (
    <Dialog title="New audience" isOpen onClose={onClose}>
      <Form
        className={elements["form"] ?? ""}
        onSubmit={(event) => {
          event.preventDefault();
          if (unavailable === null && sourceId !== null) making.mutate(sourceId);
        }}
      >
        <Field
          label="Name"
          autoFocus
          value={name}
          onChange={setName}
          error={ofName}
          hint="The trait is named after it: VIP customers becomes vip_customers."
        />
        {sources?.length === 0 ? (
          <p>
            There is no source whose users they could be: <a href="/sources">make one first</a>.
          </p>
        ) : (
          <Choice
            label="Source"
            value={sourceId ?? ""}
            choices={(sources ?? []).map((source) => [source.id, source.name] as const)}
            onChange={setChosen}
          />
        )}
        <Refusal error={ofName === null ? (making.error ?? error) : null} />
        <Button type="submit" look="primary" isPending={making.isPending} unavailable={unavailable}>
          Make it
        </Button>
      </Form>
    </Dialog>
  );
}

/** The fault of the name: no trait comes of it, or another of the source has that trait. */
function nameRefusal(error: Error | null): string | null {
  if (!(error instanceof ApiProblem)) return null;
  if (error.status === 409) return error.message;
  return error.errors.find(({ path }) => path === "name")?.message ?? null;
}
