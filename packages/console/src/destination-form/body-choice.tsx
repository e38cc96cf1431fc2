import { Choice } from "../elements/choice.tsx";
import type { DestinationDraft } from "./destination-draft.ts";

export interface BodyChoiceProps {
  readonly value: DestinationDraft["payload"];
  readonly onChange: (payload: DestinationDraft["payload"]) => void;
}

/** The content of a destination's requests. */
export function BodyChoice({ value, onChange }: BodyChoiceProps) {
  return (
    <Choice
      label="Body"
      value={value}
      choices={[
        ["documented", "documented: the shapes of the documentation"],
        ["full", "full: with what the call had besides"],
      ]}
      onChange={onChange}
    />
  );
}
