import { useRouter } from "@tanstack/react-router";
import { Filter as FilterIcon, X } from "lucide-react";
import { useState } from "react";
import { Form } from "react-aria-components";
import { Button } from "../elements/button.tsx";
import { Choice } from "../elements/choice.tsx";
import { Dialog } from "../elements/dialog.tsx";
import { Field } from "../elements/field.tsx";
import { usePageKey } from "../keys/page-keys.ts";
import { useNaming } from "../names/names.ts";
import { type Filter, type FilterField, searchOf } from "./filter.ts";
import styles from "./listing.module.css";

export interface FilterBarProps<Key extends string> {
  readonly fields: readonly FilterField<Key>[];
  readonly filter: Filter<Key>;
}

/** What narrows the list, each to be taken away; and the dialog that adds more. Both change the address. */
export function FilterBar<Key extends string>({ fields, filter }: FilterBarProps<Key>) {
  const router = useRouter();
  const { nameOf, isSettled } = useNaming();
  const [isOpen, setOpen] = useState(false);
  usePageKey("f", () => setOpen(true));
  const show = (next: Filter<Key>): void => {
    router.history.push(`${router.state.location.pathname}${searchOf(next)}`);
  };
  const set = fields.filter(({ key }) => filter[key] !== undefined);
  const isAwaited = !isSettled && set.some(({ isNamed }) => isNamed);
  return (
    <div className={`${styles["filters"]} ${isAwaited ? styles["awaited"] : ""}`}>
      {set.map(({ key, label, choices, isNamed }) => {
        const value = filter[key] ?? "";
        const words = choices?.find(([choice]) => choice === value)?.[1] ?? (isNamed ? nameOf(value) : value);
        return (
          <Button key={key} aria-label={`${label}: ${words}: take away`} onPress={() => show(withoutKey(filter, key))}>
            {label}: {words} <X size={14} aria-hidden />
          </Button>
        );
      })}
      <Button look="quiet" onPress={() => setOpen(true)}>
        <FilterIcon size={16} aria-hidden /> Filter
      </Button>
      {isOpen && (
        <FilterDialog
          fields={fields}
          filter={filter}
          onClose={() => setOpen(false)}
          onChosen={(next) => {
            setOpen(false);
            show(next);
          }}
        />
      )}
    </div>
  );
}

interface FilterDialogProps<Key extends string> extends FilterBarProps<Key> {
  readonly onClose: () => void;
  readonly onChosen: (filter: Filter<Key>) => void;
}

function FilterDialog<Key extends string>({ fields, filter, onClose, onChosen }: FilterDialogProps<Key>) {
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
          {fields.map(({ key, label, choices }) =>
            choices === undefined ? (
              <Field key={key} label={label} value={draft[key] ?? ""} onChange={(value) => put(key, value)} />
            ) : (
              <Choice
                key={key}
                label={label}
                value={draft[key] ?? ""}
                choices={[["", "any"], ...choices]}
                onChange={(value) => put(key, value)}
              />
            ),
          )}
        </div>
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

function withoutKey<Key extends string>(filter: Filter<Key>, key: Key): Filter<Key> {
  const { [key]: _, ...others } = filter;
  return others as Filter<Key>;
}
