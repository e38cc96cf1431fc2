/** The filters of a list as chips. Each changes the address, which is the view that can be saved or sent. */
import { useRouter } from "@tanstack/react-router";
import { ChevronDown, Plus, X } from "lucide-react";
import { useState } from "react";
import {
  Button as AriaButton,
  Dialog,
  DialogTrigger,
  Menu,
  MenuItem,
  MenuTrigger,
  Popover,
} from "react-aria-components";
import { Button } from "../elements/button.tsx";
import menus from "../elements/menu.module.css";
import { usePageKey } from "../keys/page-keys.ts";
import { clockTime, toTheSecond } from "../moment/moment.ts";
import { countOf } from "../moment/numbers.ts";
import { useNow, useZone } from "../moment/zone.ts";
import { useNaming } from "../names/names.ts";
import { type Filter, type FilterField, searchOf, withValues } from "./filter.ts";
import styles from "./filter-bar.module.css";
import { FilterEditor } from "./filter-editor.tsx";

/** The menu that adds a filter. */
const ADDING = "add";

export interface FilterBarProps<Key extends string> {
  readonly fields: readonly FilterField<Key>[];
  readonly filter: Filter<Key>;
  /** Parameters of the address that are no filter, as the order of the list. */
  readonly kept?: Filter<string>;
  /** The rows of each choice, by the key of its field. */
  readonly counts?: Partial<Readonly<Record<Key, ReadonlyMap<string, number>>>>;
}

export function FilterBar<Key extends string>({ fields, filter, kept = {}, counts = {} }: FilterBarProps<Key>) {
  const router = useRouter();
  const { nameOf, isSettled } = useNaming(fields.some(({ named }) => named !== undefined));
  const momentOf = useMomentWords();
  /** The key of the filter that is edited. */
  const [open, setOpen] = useState<string | null>(null);
  usePageKey("f", () => setOpen(ADDING));
  const show = (next: Filter<Key>): void => {
    setOpen(null);
    router.history.push(`${router.state.location.pathname}${searchOf({ ...next, ...kept })}`);
  };
  // The editor that closes last leaves open another that was chosen in it.
  const toggle = (key: string, isOpen: boolean): void =>
    setOpen((known) => (isOpen ? key : known === key ? null : known));
  const put = (values: Filter<string>): void => show(withValues(filter, values));
  const wordsOf = ({ key, choices, named, isMoment, isList }: FilterField<Key>): string => {
    const value = filter[key] ?? "";
    if (isList === true) return countOf(value.split(",").length);
    const said = named !== undefined ? nameOf(value) : isMoment === true ? momentOf(value) : value;
    return choices?.find(([choice]) => choice === value)?.[1] ?? said;
  };
  const others = fields.filter(({ chip }) => chip !== "choices");
  const shown = others.filter(({ key, chip }) => chip === "own" || filter[key] !== undefined || open === key);
  const isAwaited = !isSettled && shown.some(({ key, named }) => named !== undefined && filter[key] !== undefined);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset lays out its parts otherwise
    <div role="group" aria-label="Filters" className={`${styles["filters"]} ${isAwaited ? styles["awaited"] : ""}`}>
      {fields
        .filter(({ chip }) => chip === "choices")
        .map((field) => (
          <ChoiceChips
            key={field.key}
            {...{ field, value: filter[field.key], counts: counts[field.key] }}
            onChange={(value) => put({ [field.key]: value })}
          />
        ))}
      {shown.map((field) => (
        <FilterChip
          key={field.key}
          {...{ field, fields, filter, words: filter[field.key] === undefined ? null : wordsOf(field) }}
          isOpen={open === field.key}
          onOpen={(isOpen) => toggle(field.key, isOpen)}
          onChange={put}
        />
      ))}
      <AddFilter
        fields={others.filter(({ key }) => filter[key] === undefined)}
        isOpen={open === ADDING}
        onOpen={(isOpen) => toggle(ADDING, isOpen)}
        onChosen={setOpen}
      />
      {Object.keys(filter).length > 0 && (
        <Button look="quiet" onPress={() => show({})}>
          Clear
        </Button>
      )}
    </div>
  );
}

interface ChoiceChipsProps {
  readonly field: FilterField<string>;
  readonly value: string | undefined;
  readonly counts: ReadonlyMap<string, number> | undefined;
  readonly onChange: (value: string) => void;
}

/** One press narrows the list to a choice, another one takes that back. */
function ChoiceChips({ field: { label, choices = [] }, value, counts, onChange }: ChoiceChipsProps) {
  return choices.map(([choice, words]) => {
    const count = counts?.get(choice);
    return (
      <AriaButton
        key={choice}
        className={styles["chip"] ?? ""}
        aria-label={`${label}: ${words}${count === undefined ? "" : `, ${countOf(count)}`}`}
        aria-pressed={value === choice}
        onPress={() => onChange(value === choice ? "" : choice)}
      >
        {words} {count !== undefined && <span className={styles["count"]}>{countOf(count)}</span>}
      </AriaButton>
    );
  });
}

interface FilterChipProps {
  readonly field: FilterField<string>;
  readonly fields: readonly FilterField<string>[];
  readonly filter: Filter<string>;
  /** Its value in words; null where the list is not narrowed by it. */
  readonly words: string | null;
  readonly isOpen: boolean;
  readonly onOpen: (isOpen: boolean) => void;
  readonly onChange: (values: Filter<string>) => void;
}

function FilterChip({ field, fields, filter, words, isOpen, onOpen, onChange }: FilterChipProps) {
  const { key, label, chipWords = label } = field;
  return (
    <span className={`${styles["pair"]} ${words === null ? "" : styles["set"]}`}>
      <DialogTrigger isOpen={isOpen} onOpenChange={onOpen}>
        <AriaButton className={styles["chip"] ?? ""}>
          {words === null ? chipWords : `${label}: ${words}`}
          {words === null && <ChevronDown size={14} aria-hidden />}
        </AriaButton>
        <Popover className={menus["popover"] ?? ""} placement="bottom start">
          <Dialog aria-label={`Filter by ${label}`} className={styles["editor"] ?? ""}>
            <FilterEditor field={field} fields={fields} filter={filter} onChange={onChange} />
          </Dialog>
        </Popover>
      </DialogTrigger>
      {words !== null && (
        <AriaButton
          className={styles["remove"] ?? ""}
          aria-label={`Remove ${label}: ${words}`}
          onPress={() => onChange({ [key]: "" })}
        >
          <X size={14} aria-hidden />
        </AriaButton>
      )}
    </span>
  );
}

interface AddFilterProps {
  readonly fields: readonly FilterField<string>[];
  readonly isOpen: boolean;
  readonly onOpen: (isOpen: boolean) => void;
  readonly onChosen: (key: string) => void;
}

function AddFilter({ fields, isOpen, onOpen, onChosen }: AddFilterProps) {
  if (fields.length === 0) return null;
  return (
    <MenuTrigger isOpen={isOpen} onOpenChange={onOpen}>
      <AriaButton className={styles["chip"] ?? ""} data-look="quiet">
        <Plus size={14} aria-hidden /> Add filter
      </AriaButton>
      <Popover className={menus["popover"] ?? ""} placement="bottom start">
        <Menu className={menus["menu"] ?? ""} aria-label="Add filter" onAction={(key) => onChosen(String(key))}>
          {fields.map(({ key, label }) => (
            <MenuItem key={key} id={key} className={menus["item"] ?? ""}>
              {label}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

/** A moment as all others are told; any other text as it stands. */
function useMomentWords(): (text: string) => string {
  const now = useNow();
  const zone = useZone();
  return (text) => {
    const at = new Date(text);
    return Number.isNaN(at.getTime()) ? text : toTheSecond(clockTime(at, now, zone));
  };
}
