import { ArrowDown, ArrowUp } from "lucide-react";
import { Button } from "react-aria-components";
import { type Column, cellClass, type Selection, type SortDirection, type Sorting } from "./column.ts";
import styles from "./table.module.css";

export interface TableHeadProps {
  readonly columns: readonly Column<never>[];
  readonly sorting: Sorting | undefined;
  readonly selection: Selection | undefined;
  readonly rows: readonly unknown[];
  readonly idOf: (row: unknown) => string;
}

/** The headings, by which the list is sorted where it can be. */
export function TableHead({ columns, sorting, selection, rows, idOf }: TableHeadProps) {
  return (
    <thead>
      <tr role="row" aria-rowindex={1} className={styles["head"]}>
        {selection !== undefined && (
          <th role="columnheader" scope="col" className={styles["choose"]}>
            <ChooseAll selection={selection} ids={rows.map(idOf)} />
          </th>
        )}
        {columns.map((column) => (
          <Heading key={column.key} column={column} sorting={sorting} />
        ))}
      </tr>
    </thead>
  );
}

function ChooseAll({ selection, ids }: { readonly selection: Selection; readonly ids: readonly string[] }) {
  const { chosen, onChange } = selection;
  const areAll = ids.length > 0 && ids.every((id) => chosen.has(id));
  return (
    <input
      type="checkbox"
      aria-label="Select all rows shown"
      checked={areAll}
      ref={(box) => {
        if (box !== null) box.indeterminate = chosen.size > 0 && !areAll;
      }}
      onChange={() => onChange(new Set(areAll ? [] : ids))}
    />
  );
}

interface HeadingProps {
  readonly column: Column<never>;
  readonly sorting: Sorting | undefined;
}

function Heading({ column, sorting }: HeadingProps) {
  const { key, heading, isHeadingHeard, sorts } = column;
  if (sorting === undefined || sorts === undefined) {
    return (
      <th role="columnheader" scope="col" className={cellClass(column)}>
        {isHeadingHeard === true ? <span className={styles["heard"]}>{heading}</span> : heading}
      </th>
    );
  }
  const isSorted = sorting.key === key;
  const next: SortDirection = isSorted ? opposite(sorting.direction) : sorts;
  const Arrow = sorting.direction === "ascending" ? ArrowUp : ArrowDown;
  return (
    <th role="columnheader" scope="col" aria-sort={isSorted ? sorting.direction : "none"} className={cellClass(column)}>
      <Button className={styles["sort"] ?? ""} onPress={() => sorting.onChange(key, next)}>
        {heading}
        {isSorted && <Arrow size={14} aria-hidden />}
      </Button>
    </th>
  );
}

function opposite(direction: SortDirection): SortDirection {
  return direction === "ascending" ? "descending" : "ascending";
}
