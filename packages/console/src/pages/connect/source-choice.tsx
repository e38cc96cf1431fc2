import { Radio, RadioGroup } from "react-aria-components";
import type { Source } from "../../api/api-types.ts";
import { Choice } from "../../elements/choice.tsx";
import { Field } from "../../elements/field.tsx";
import { KINDS } from "../sources/source-kinds.ts";
import styles from "./connect.module.css";
import type { ConnectDraft } from "./connect-draft.ts";

export interface SourceChoiceProps {
  readonly draft: ConnectDraft;
  readonly onChange: (part: Partial<ConnectDraft>) => void;
  readonly sources: readonly Source[];
  readonly error: string | null;
}

/** Where the events come from: a new source, or one that is there. */
export function SourceChoice({ draft, onChange, sources, error }: SourceChoiceProps) {
  const [first] = sources;
  return (
    <section aria-label="Source" className={styles["part"]}>
      <h2>1 Where from</h2>
      {first !== undefined && (
        <RadioGroup
          aria-label="Source"
          className={styles["radios"] ?? ""}
          value={draft.sourceId === null ? "new" : "existing"}
          onChange={(chosen) => onChange({ sourceId: chosen === "new" ? null : first.id })}
        >
          <Radio value="new" className={styles["radio"] ?? ""}>
            A new source
          </Radio>
          <Radio value="existing" className={styles["radio"] ?? ""}>
            One that is there
          </Radio>
        </RadioGroup>
      )}
      <div className={styles["pair"]}>
        {draft.sourceId === null ? (
          <>
            <Field
              label="Its name"
              value={draft.sourceName}
              onChange={(sourceName) => onChange({ sourceName })}
              error={error}
            />
            <Choice
              label="It is"
              value={draft.sourceKind}
              choices={KINDS}
              onChange={(sourceKind) => onChange({ sourceKind })}
            />
          </>
        ) : (
          <Choice
            label="Source"
            value={draft.sourceId}
            choices={sources.map(({ id, name }) => [id, name] as const)}
            onChange={(sourceId) => onChange({ sourceId })}
          />
        )}
      </div>
    </section>
  );
}
