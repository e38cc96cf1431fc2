import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { Button } from "../elements/button.tsx";
import { Choice } from "../elements/choice.tsx";
import { Dialog } from "../elements/dialog.tsx";
import elements from "../elements/elements.module.css";
import { Field } from "../elements/field.tsx";
import { fromZone, inZone } from "../moment/moment.ts";
import { useZone } from "../moment/zone.ts";
import { allDestinations, allSources } from "../names/names.ts";
import type { Filter, FilterField } from "./filter.ts";
import styles from "./listing.module.css";

/** Of which most are in need. */
const LATELY = [
  ["the last hour", 3_600_000],
  ["4 hours", 4 * 3_600_000],
  ["day", 24 * 3_600_000],
  ["week", 7 * 24 * 3_600_000],
] as const;

export interface FilterDialogProps<Key extends string> {
  readonly fields: readonly FilterField<Key>[];
  readonly filter: Filter<Key>;
  readonly onClose: () => void;
  readonly onChosen: (filter: Filter<Key>) => void;
}

/** All that a list can be narrowed by. */
export function FilterDialog<Key extends string>({ fields, filter, onClose, onChosen }: FilterDialogProps<Key>) {
  const [draft, setDraft] = useState<Filter<string>>(filter);
  const put = (key: string, value: string): void => setDraft((known) => ({ ...known, [key]: value }));
  return (
    <Dialog title="Filter" isOpen onClose={onClose}>
      <Form
        onSubmit={(event) => {
          event.preventDefault();
          const set = Object.entries(draft).filter(([, value]) => value !== undefined && value.trim() !== "");
          onChosen(Object.fromEntries(set.map(([key, value]) => [key, value?.trim()])) as Filter<Key>);
        }}
      >
        <div className={styles["fields"]}>
          {fields.map((field) => (
            <FilterInput
              key={field.key}
              field={field}
              value={draft[field.key] ?? ""}
              onChange={(value) => put(field.key, value)}
            />
          ))}
        </div>
        {fields.some(({ key, isMoment }) => key === "since" && isMoment) && (
          <fieldset className={styles["lately"]}>
            <legend>Since</legend>
            {LATELY.map(([words, ms]) => (
              <Button key={words} onPress={() => put("since", new Date(Date.now() - ms).toISOString())}>
                {words}
              </Button>
            ))}
          </fieldset>
        )}
        <div className={styles["more"]}>
          <Button onPress={() => onChosen({})}>Clear</Button>
          <Button type="submit" look="primary">
            Show
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

interface FilterInputProps {
  readonly field: FilterField<string>;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function FilterInput({ field, value, onChange }: FilterInputProps) {
  const { label, choices, named, isMoment } = field;
  if (choices !== undefined) {
    return <Choice label={label} value={value} choices={[["", "any"], ...choices]} onChange={onChange} />;
  }
  if (named !== undefined) return <NamedChoice label={label} named={named} value={value} onChange={onChange} />;
  if (isMoment === true) return <MomentInput label={label} value={value} onChange={onChange} />;
  return <Field label={label} value={value} onChange={onChange} />;
}

interface NamedChoiceProps extends Omit<FilterInputProps, "field"> {
  readonly label: string;
  readonly named: "destination" | "source";
}

function NamedChoice({ label, named, value, onChange }: NamedChoiceProps) {
  const { data: destinations = [] } = useQuery({ ...allDestinations, enabled: named === "destination" });
  const { data: sources = [] } = useQuery({ ...allSources, enabled: named === "source" });
  const known = (named === "destination" ? destinations : sources).map(({ id, name }) => [id, name] as const);
  // A removed object has no name.
  const others = value === "" || known.some(([id]) => id === value) ? [] : [[value, value] as const];
  return <Choice label={label} value={value} choices={[["", "any"], ...known, ...others]} onChange={onChange} />;
}

/** A moment in the zone in which all are told. */
function MomentInput({ label, value, onChange }: Omit<NamedChoiceProps, "named">) {
  const isUtc = useZone() === "UTC";
  return (
    <label className={elements["choice"]}>
      {label}
      <input
        type="datetime-local"
        step="1"
        className={elements["input"]}
        value={inZone(value, isUtc)}
        onChange={(event) => onChange(fromZone(event.target.value, isUtc))}
      />
    </label>
  );
}
