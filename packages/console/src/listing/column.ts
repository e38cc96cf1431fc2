/** The columns of a table, and its order and selection. */
import type { ReactNode } from "react";
import styles from "./table.module.css";

export interface Column<Row> {
  readonly key: string;
  readonly heading: string;
  /** For screen readers alone, where the cells say enough. */
  readonly isHeadingHeard?: true;
  /** The place of its cells in a card: the first line, the end of that line, a line of their own, or none. */
  readonly narrow: "title" | "side" | "line" | "labelled" | "hidden";
  readonly isFigure?: true;
  /** Seen while the row is hovered or has the focus. */
  readonly isActions?: true;
  /** Over as many lines as it needs, where no part of it may be cut. */
  readonly wraps?: true;
  /** The direction of the first sort by it; absent where the list is not sorted by it. */
  readonly sorts?: SortDirection;
  /** Shown on hover: one line may be too short for a cell. */
  readonly wholeOf?: (row: Row) => string | undefined;
  readonly cell: (row: Row) => ReactNode;
}

export type SortDirection = "ascending" | "descending";

export interface Sorting {
  readonly key: string;
  readonly direction: SortDirection;
  readonly onChange: (key: string, direction: SortDirection) => void;
}

export interface Selection {
  readonly chosen: ReadonlySet<string>;
  readonly onChange: (chosen: ReadonlySet<string>) => void;
}

type Placed = Pick<Column<never>, "narrow" | "isFigure" | "isActions" | "wraps">;

export function cellClass({ narrow, isFigure, isActions, wraps }: Placed): string {
  const look = isActions === true ? "actions" : wraps === true ? "wrapped" : "oneLine";
  return [styles["cell"], styles[narrow], styles[look], isFigure === true ? styles["figure"] : ""].join(" ");
}
