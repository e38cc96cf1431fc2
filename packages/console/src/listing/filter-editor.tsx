/** Sets one filter of a list: by a choice, a name, a moment or a text. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Form, Menu, MenuItem } from "react-aria-components";
import { Button } from "../elements/button.tsx";
import elements from "../elements/elements.module.css";
import { Field } from "../elements/field.tsx";
import menus from "../elements/menu.module.css";
import { fromZone, inZone } from "../moment/moment.ts";
import { useZone } from "../moment/zone.ts";
import { allDestinations, allSources } from "../names/names.ts";
import type { Filter, FilterField } from "./filter.ts";
import styles from "./filter-bar.module.css";

const LATELY = [
  ["Last hour", 3_600_000],
  ["Last 4 hours", 4 * 3_600_000],
  ["Last day", 24 * 3_600_000],
  ["Last week", 7 * 24 * 3_600_000],
] as const;

/** Names that stand there at once; of more, a part of the name is typed. */
const MOST_NAMES = 12;

export interface FilterEditorProps {
  readonly field: FilterField<string>;
  readonly fields: readonly FilterField<string>[];
  readonly filter: Filter<string>;
  readonly onChange: (values: Filter<string>) => void;
}

export function FilterEditor({ field, fields, filter, onChange }: FilterEditorProps) {
  const { key, label, choices, named, isMoment } = field;
  const value = filter[key] ?? "";
  const choose = (chosen: string): void => onChange({ [key]: chosen });
  if (choices !== undefined) return <Choices label={label} choices={choices} value={value} onChange={choose} />;
  if (named !== undefined) return <Names label={label} named={named} value={value} onChange={choose} />;
  if (isMoment === true) return <Moments fields={fields} filter={filter} onChange={onChange} />;
  return <Typed label={label} value={value} onChange={choose} />;
}

interface OneProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

interface ChoicesProps extends OneProps {
  readonly choices: readonly (readonly [value: string, words: string])[];
}

function Choices({ label, choices, value, onChange }: ChoicesProps) {
  return (
    <Menu
      aria-label={label}
      // The popover came for it.
      autoFocus="first"
      className={menus["menu"] ?? ""}
      selectionMode="single"
      selectedKeys={[value]}
      onAction={(chosen) => onChange(String(chosen))}
    >
      {choices.map(([choice, words]) => (
        <MenuItem key={choice} id={choice} textValue={words} className={menus["item"] ?? ""}>
          {words}
        </MenuItem>
      ))}
    </Menu>
  );
}

function Names({ label, named, value, onChange }: OneProps & { readonly named: "destination" | "source" }) {
  const { data: destinations = [] } = useQuery({ ...allDestinations, enabled: named === "destination" });
  const { data: sources = [] } = useQuery({ ...allSources, enabled: named === "source" });
  const [typed, setTyped] = useState("");
  const known = (named === "destination" ? destinations : sources).map(({ id, name }) => [id, name] as const);
  // A removed object has no name.
  const all = value === "" || known.some(([id]) => id === value) ? known : [...known, [value, value] as const];
  const fitting = all.filter(([, name]) => name.toLowerCase().includes(typed.trim().toLowerCase()));
  return (
    <>
      {all.length > MOST_NAMES && (
        <div className={styles["search"]}>
          <Field label="Part of the name" value={typed} onChange={setTyped} autoFocus />
        </div>
      )}
      <Choices label={label} value={value} choices={fitting.slice(0, MOST_NAMES)} onChange={onChange} />
      {fitting.length > MOST_NAMES && (
        <p className={styles["hint"]}>{`${fitting.length - MOST_NAMES} more: type a part`}</p>
      )}
      {fitting.length === 0 && <p className={styles["hint"]}>No {named} has that name.</p>}
    </>
  );
}

function Typed({ label, value, onChange }: OneProps) {
  const [typed, setTyped] = useState(value);
  return (
    <Form
      className={styles["form"] ?? ""}
      onSubmit={(event) => {
        event.preventDefault();
        onChange(typed);
      }}
    >
      <Field label={label} value={typed} onChange={setTyped} autoFocus />
      <Button type="submit" look="primary">
        Apply
      </Button>
    </Form>
  );
}

/** Both ends of the time at once. */
function Moments({ fields, filter, onChange }: Pick<FilterEditorProps, "fields" | "filter" | "onChange">) {
  const [draft, setDraft] = useState(filter);
  const moments = fields.filter(({ isMoment }) => isMoment);
  return (
    <Form
      className={styles["form"] ?? ""}
      onSubmit={(event) => {
        event.preventDefault();
        onChange(Object.fromEntries(moments.map(({ key }) => [key, draft[key] ?? ""])));
      }}
    >
      <div className={styles["lately"]}>
        {LATELY.map(([words, ms]) => (
          <Button key={words} onPress={() => onChange({ since: new Date(Date.now() - ms).toISOString(), until: "" })}>
            {words}
          </Button>
        ))}
      </div>
      {moments.map(({ key, label }) => (
        <MomentInput
          key={key}
          label={label}
          value={draft[key] ?? ""}
          onChange={(value) => setDraft((known) => ({ ...known, [key]: value }))}
        />
      ))}
      <Button type="submit" look="primary">
        Apply
      </Button>
    </Form>
  );
}

/** In the zone in which all moments are told. */
function MomentInput({ label, value, onChange }: OneProps) {
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
