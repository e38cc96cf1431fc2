import { OPERATIONS_SOURCE } from "@posthaste/core/config/source";
import { useQuery } from "@tanstack/react-query";
import type { Problem } from "../api/api-types.ts";
import { Checked } from "../elements/checked.tsx";
import { Choice } from "../elements/choice.tsx";
import { Field } from "../elements/field.tsx";
import { allSources } from "../names/names.ts";
import { BodyChoice } from "./body-choice.tsx";
import type { DestinationDraft } from "./destination-draft.ts";
import styles from "./destination-form.module.css";
import { SettleChoice } from "./settle-choice.tsx";
import { UrlFields } from "./url-fields.tsx";

export interface DestinationFieldsProps {
  readonly draft: DestinationDraft;
  readonly onChange: (draft: DestinationDraft) => void;
  /** Control's errors, by the field. */
  readonly errors: Problem["errors"];
}

export function DestinationFields({ draft, onChange, errors }: DestinationFieldsProps) {
  const { data: sources = [] } = useQuery(allSources);
  const others = draft.sourceIds.filter((id) => id !== OPERATIONS_SOURCE.id);
  const put = (part: Partial<DestinationDraft>): void => onChange({ ...draft, ...part });
  const errorAt = (path: string): string | null => errors.find((error) => error.path === path)?.message ?? null;
  return (
    <>
      <Field label="Name" value={draft.name} onChange={(name) => put({ name })} error={errorAt("name")} />
      <Checked isSelected={draft.enabled} onChange={(enabled) => put({ enabled })}>
        Enabled (takes effect within a second)
      </Checked>
      <fieldset className={styles["group"]}>
        <legend>Sources</legend>
        <Checked
          isSelected={draft.sourceIds.includes(OPERATIONS_SOURCE.id)}
          onChange={(isOn) => put({ sourceIds: isOn ? [OPERATIONS_SOURCE.id] : [] })}
        >
          {OPERATIONS_SOURCE.name}: how the other destinations are, and nothing else
        </Checked>
        {sources.map(({ id, name }) => (
          <Checked
            key={id}
            isSelected={draft.sourceIds.includes(id)}
            onChange={(isOn) => put({ sourceIds: isOn ? [...others, id] : others.filter((each) => each !== id) })}
          >
            {name}
          </Checked>
        ))}
      </fieldset>
      <UrlFields urls={draft.urls} onChange={(urls) => put({ urls })} errorAt={errorAt} />
      <SettleChoice value={draft.settle} onChange={(settle) => put({ settle })} />
      <Field
        label="Requests a second at the most"
        inputMode="numeric"
        value={draft.rateLimit}
        onChange={(rateLimit) => put({ rateLimit })}
        error={errorAt("settings.rateLimitPerSecond")}
        hint="Empty for no limit."
      />
      <BodyChoice value={draft.payload} onChange={(payload) => put({ payload })} />
      <Choice
        label="The log keeps the start of answers"
        value={draft.responseLog}
        choices={[
          ["failures", "of what failed"],
          ["all", "of all"],
          ["off", "of none"],
        ]}
        onChange={(responseLog) => put({ responseLog })}
      />
      <Checked isSelected={draft.standardWebhooks} onChange={(standardWebhooks) => put({ standardWebhooks })}>
        Also send the headers of Standard Webhooks
      </Checked>
    </>
  );
}
