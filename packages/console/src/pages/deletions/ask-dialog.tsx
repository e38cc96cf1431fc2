/**
 * Asks for a deletion: the users, the sources, and whether nothing of them is delivered any more.
 *
 * DA1  Nothing is asked for before its counts were shown and confirmed.
 * DA2  A confirmed request goes out under one id however often it is sent, so that it is carried out once; a later
 *      change is confirmed anew, under another.
 */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { CheckboxGroup, FieldError, Form, Label, Text, TextArea, TextField } from "react-aria-components";
import type { Source } from "../../api/api-types.ts";
import { Button } from "../../elements/button.tsx";
import { Checked } from "../../elements/checked.tsx";
import { Choice } from "../../elements/choice.tsx";
import { Dialog } from "../../elements/dialog.tsx";
import elements from "../../elements/elements.module.css";
import { Refusal } from "../../elements/refusal.tsx";
import { countOf, numbered } from "../../moment/numbers.ts";
import { allSources } from "../../names/names.ts";
import { AskConfirmation } from "./ask-confirmation.tsx";
import { concernedBy, type DeletionDraft, MOST_USERS, tooManyOf, usersOf } from "./deletion-draft.ts";
import styles from "./deletions.module.css";

const NOBODY: DeletionDraft = { text: "", sourceIds: null, suppress: false };

export function AskDialog({ onClose }: { readonly onClose: () => void }) {
  const [draft, setDraft] = useState(NOBODY);
  const [confirmedId, setConfirmedId] = useState<string | null>(null);
  if (confirmedId !== null) {
    const back = (): void => setConfirmedId(null);
    return <AskConfirmation id={confirmedId} draft={draft} onBack={back} onClose={onClose} />;
  }
  return (
    <Dialog title="Ask for a deletion" isOpen onClose={onClose}>
      <AskForm draft={draft} onChange={setDraft} onReviewed={() => setConfirmedId(createDeletionId())} />
    </Dialog>
  );
}

interface AskFormProps {
  readonly draft: DeletionDraft;
  readonly onChange: (draft: DeletionDraft) => void;
  readonly onReviewed: () => void;
}

function AskForm({ draft, onChange, onReviewed }: AskFormProps) {
  const { data: sources, error } = useQuery(allSources);
  const { userIds, repeats, error: fault } = usersOf(draft.text);
  const concerned = concernedBy(draft, sources ?? []);
  const unavailable =
    (userIds.length === 0 ? "it needs a user id" : fault) ??
    (sources === undefined ? "the sources are being read" : null) ??
    (concerned.length === 0 ? "it needs a source" : tooManyOf(userIds.length, concerned.length));
  const repeated = repeats === 0 ? "" : `; ${numbered(repeats, "line")} named before, counted once`;
  return (
    <Form
      className={styles["form"] ?? ""}
      onSubmit={(event) => {
        event.preventDefault();
        if (unavailable === null) onReviewed();
      }}
    >
      <LinesField
        label="User ids, one a line"
        value={draft.text}
        onChange={(text) => onChange({ ...draft, text })}
        hint={`${numbered(userIds.length, "user")} of ${countOf(MOST_USERS)} at the most${repeated}`}
        error={fault}
      />
      <Choice
        label="Sources"
        value={draft.sourceIds === null ? "enabled" : "named"}
        choices={[
          ["enabled", "all that are on"],
          ["named", "those named here"],
        ]}
        onChange={(which) => onChange({ ...draft, sourceIds: which === "named" ? [] : null })}
      />
      {draft.sourceIds !== null && sources !== undefined && (
        <NamedSources
          sources={sources}
          sourceIds={draft.sourceIds}
          onChange={(sourceIds) => onChange({ ...draft, sourceIds })}
        />
      )}
      <Checked isSelected={draft.suppress} onChange={(suppress) => onChange({ ...draft, suppress })}>
        <strong>Suppress these users</strong>: from then on no event of theirs from these sources is delivered, neither
        one that comes nor one that waits, until the suppression is ended. Without it destinations are told, and what
        comes is delivered as before.
      </Checked>
      <Refusal error={error} />
      <Button type="submit" look="primary" unavailable={unavailable}>
        Review
      </Button>
    </Form>
  );
}

interface NamedSourcesProps {
  readonly sources: readonly Source[];
  readonly sourceIds: readonly string[];
  readonly onChange: (sourceIds: readonly string[]) => void;
}

function NamedSources({ sources, sourceIds, onChange }: NamedSourcesProps) {
  return (
    <CheckboxGroup className={styles["named"] ?? ""} value={[...sourceIds]} onChange={onChange}>
      <Label>Of</Label>
      {sources.map(({ id, name, enabled }) => (
        <Checked key={id} value={id}>
          {name}
          {!enabled && " (off)"}
        </Checked>
      ))}
    </CheckboxGroup>
  );
}

const ID_BYTES = 10;

/** By the browser's own source, which a page has without TLS too. */
function createDeletionId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(ID_BYTES));
  return `del_${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

interface LinesFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint: string;
  /** The fault of the lines, and its line. */
  readonly error: string | null;
}

/** Lines to type or to paste, with their count beside them. */
function LinesField({ label, value, onChange, hint, error }: LinesFieldProps) {
  return (
    <TextField
      autoFocus
      value={value}
      onChange={onChange}
      isInvalid={error !== null}
      validationBehavior="aria"
      className={elements["field"] ?? ""}
    >
      <Label className={elements["label"] ?? ""}>{label}</Label>
      <TextArea
        rows={6}
        spellCheck={false}
        autoComplete="off"
        className={`${elements["input"]} ${elements["mono"]} ${styles["lines"]}`}
      />
      <Text slot="description" className={elements["hint"] ?? ""}>
        {hint}
      </Text>
      <FieldError className={elements["error"] ?? ""}>{error}</FieldError>
    </TextField>
  );
}
