import { OPERATIONS_SOURCE } from "@posthaste/core/config/source";
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

/** Where the events come from: a new source, one that is there, or Posthaste itself. */
export function SourceChoice({ draft, onChange, sources, error }: SourceChoiceProps) {
  const [first] = sources;
  const isOfOperations = draft.sourceId === OPERATIONS_SOURCE.id;
  const sourceOf: Readonly<Record<string, string | undefined>> = {
    existing: first?.id,
    operations: OPERATIONS_SOURCE.id,
  };
  return (
    <section aria-label="Source" className={styles["part"]}>
      <h2>1 Where from</h2>
      <RadioGroup
        aria-label="Source"
        className={styles["radios"] ?? ""}
        value={isOfOperations ? "operations" : draft.sourceId === null ? "new" : "existing"}
        onChange={(chosen) => onChange({ sourceId: sourceOf[chosen] ?? null })}
      >
        <Radio value="new" className={styles["radio"] ?? ""}>
          A new source
        </Radio>
        {first !== undefined && (
          <Radio value="existing" className={styles["radio"] ?? ""}>
            An existing source
          </Radio>
        )}
        <Radio value="operations" className={styles["radio"] ?? ""}>
          {OPERATIONS_SOURCE.name}
        </Radio>
      </RadioGroup>
      {isOfOperations && (
        <p className={styles["detail"]}>
          It tells when another destination starts to fail, stays shut, has dead letters, or answers again.
        </p>
      )}
      <div className={styles["pair"]}>
        {isOfOperations ? null : draft.sourceId === null ? (
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
