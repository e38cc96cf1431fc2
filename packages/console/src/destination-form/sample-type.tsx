import type { TestInput } from "../api/api-types.ts";
import { Choice } from "../elements/choice.tsx";
import { EVENT_TYPES } from "../listing/event-types.ts";

export type SampleType = NonNullable<TestInput["type"]>;

export interface SampleTypeChoiceProps {
  readonly value: SampleType;
  readonly onChange: (type: SampleType) => void;
}

/** Of the event that a test makes up. */
export function SampleTypeChoice({ value, onChange }: SampleTypeChoiceProps) {
  return (
    <Choice
      label="A made-up event of the type"
      value={value}
      choices={EVENT_TYPES.map((type) => [type, type])}
      onChange={onChange}
    />
  );
}
