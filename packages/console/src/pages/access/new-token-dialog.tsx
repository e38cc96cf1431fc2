/**
 * A token for somebody else, as a sign-in link or as a text.
 *
 * NT1  A secret is shown once: it is in this dialog alone, and gone when that closes. A link is in the clipboard too,
 *      as the button says: it is made to be sent to somebody.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { CheckboxGroup, Form, Label } from "react-aria-components";
import type { TokenInput } from "../../api/api-types.ts";
import { call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import { Checked } from "../../elements/checked.tsx";
import { copyText } from "../../elements/clipboard.ts";
import { Copied } from "../../elements/copied.tsx";
import { Dialog } from "../../elements/dialog.tsx";
import { Field } from "../../elements/field.tsx";
import { Refusal } from "../../elements/refusal.tsx";
import { useSession } from "../../session/session.ts";
import styles from "./access-page.module.css";

type Scope = TokenInput["scopes"][number];

const SCOPES: readonly (readonly [Scope, string])[] = [
  ["read", "see everything but secrets"],
  ["write", "change sources, destinations, tokens; ask for deletions; purge"],
  ["replay", "send failed deliveries again"],
];

export function NewTokenDialog({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient();
  const { scopes: own } = useSession();
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>(["read"]);
  const [isLink, setLink] = useState(true);
  const [isCopied, setCopied] = useState(false);
  const making = useMutation({
    mutationFn: () => call("POST /v1/tokens", { body: { name: name.trim(), scopes, link: isLink } }),
    onSuccess: async ({ link }) => {
      if (link !== null) setCopied(await copyText(link));
      await client.invalidateQueries({ queryKey: ["GET /v1/tokens"] });
    },
    gcTime: 0,
  });
  const secret = making.data?.link ?? making.data?.token ?? null;
  if (secret !== null) {
    return (
      <Dialog
        title={`For ${making.data?.name}`}
        isOpen
        onClose={onClose}
        actions={<Button onPress={onClose}>Done</Button>}
      >
        <p>
          {isLink
            ? "Send this link. It signs one browser in, once, within 24 hours; it is not shown again."
            : "This is the token; it is not shown again."}
          {isCopied && " It is copied."}
        </p>
        <Copied what={isLink ? "sign-in link" : "token"} text={secret} />
      </Dialog>
    );
  }
  return (
    <Dialog title="New token" isOpen onClose={onClose}>
      <Form
        className={styles["form"] ?? ""}
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== "" && scopes.length > 0) making.mutate();
        }}
      >
        <Field
          label="Name"
          autoFocus
          value={name}
          onChange={setName}
          hint="Of a person or a program: what the activity calls them."
        />
        <CheckboxGroup
          className={styles["scopes"] ?? ""}
          value={[...scopes]}
          onChange={(chosen) => setScopes(SCOPES.map(([scope]) => scope).filter((scope) => chosen.includes(scope)))}
        >
          <Label>May</Label>
          {SCOPES.map(([scope, words]) => (
            <Checked key={scope} value={scope} isDisabled={!own.includes(scope)}>
              <strong>{scope}</strong>: {words}
              {!own.includes(scope) && " (you may not yourself)"}
            </Checked>
          ))}
        </CheckboxGroup>
        <Checked isSelected={isLink} onChange={setLink}>
          As a sign-in link for a browser, in place of the token's text
        </Checked>
        <Refusal error={making.error} />
        <Button
          type="submit"
          look="primary"
          isPending={making.isPending}
          unavailable={name.trim() === "" ? "it needs a name" : scopes.length === 0 ? "it needs a scope" : null}
        >
          {isLink ? "Make and copy the link" : "Make the token"}
        </Button>
      </Form>
    </Dialog>
  );
}
