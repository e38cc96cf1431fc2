import { useRouter } from "@tanstack/react-router";
import { Filter as FilterIcon, X } from "lucide-react";
import { useState } from "react";
import { Button } from "../elements/button.tsx";
import { usePageKey } from "../keys/page-keys.ts";
import { clockTime, toTheSecond } from "../moment/moment.ts";
import { useNow, useZone } from "../moment/zone.ts";
import { useNaming } from "../names/names.ts";
import { type Filter, type FilterField, searchOf } from "./filter.ts";
import { FilterDialog } from "./filter-dialog.tsx";
import styles from "./listing.module.css";

export interface FilterBarProps<Key extends string> {
  readonly fields: readonly FilterField<Key>[];
  readonly filter: Filter<Key>;
}

/** The list's filters, each to be taken away; and the dialog that adds more. Both change the address. */
export function FilterBar<Key extends string>({ fields, filter }: FilterBarProps<Key>) {
  const router = useRouter();
  const { nameOf, isSettled } = useNaming(fields.some(({ named }) => named !== undefined));
  const momentOf = useMomentWords();
  const [isOpen, setOpen] = useState(false);
  usePageKey("f", () => setOpen(true));
  const show = (next: Filter<Key>): void => {
    router.history.push(`${router.state.location.pathname}${searchOf(next)}`);
  };
  const set = fields.filter(({ key }) => filter[key] !== undefined);
  const isAwaited = !isSettled && set.some(({ named }) => named !== undefined);
  return (
    <div className={`${styles["filters"]} ${isAwaited ? styles["awaited"] : ""}`}>
      {set.map(({ key, label, choices, named, isMoment }) => {
        const value = filter[key] ?? "";
        const said = named !== undefined ? nameOf(value) : isMoment === true ? momentOf(value) : value;
        const words = choices?.find(([choice]) => choice === value)?.[1] ?? said;
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

function withoutKey<Key extends string>(filter: Filter<Key>, key: Key): Filter<Key> {
  const { [key]: _, ...others } = filter;
  return others as Filter<Key>;
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
