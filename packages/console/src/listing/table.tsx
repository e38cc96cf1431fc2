/**
 * A list as a table: headings, one line a row, and cards where the window is narrow.
 *
 * TB1  The whole table is used by keyboard: arrows, Page, Home and End move between rows, left and right between the
 *      controls of a row, Enter opens it, Space selects it, and one Tab leaves.
 * TB2  Above `PLAIN_ROWS` only the rows in and near the window stand in the document.
 */
import { type MouseEvent, memo, type RefObject, useRef } from "react";
import { ButtonContext, Link } from "react-aria-components";
import { type Column, cellClass, type Selection, type Sorting } from "./column.ts";
import styles from "./table.module.css";
import { TableHead } from "./table-head.tsx";
import { type TableKeys, useTableKeys } from "./table-keys.ts";
import { type ShownRows, useShownRows } from "./table-rows.ts";

export interface TableProps<Row> {
  /** For screen readers: "deliveries". */
  readonly what: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** Gives the widths as `--columns`. */
  readonly className: string | undefined;
  readonly idOf: (row: Row) => string;
  /** In words, for screen readers. */
  readonly textOf: (row: Row) => string;
  /** Where Enter leads; null for a row that leads nowhere. */
  readonly linkOf?: ((row: Row) => string | null) | undefined;
  readonly sorting?: Sorting;
  readonly selection?: Selection | undefined;
}

/** Controls of a row are reached by left and right (TB1). */
const NO_TAB_STOP = { excludeFromTabOrder: true };

export function Table<Row>(props: TableProps<Row>) {
  const { what, rows, columns, className = "", idOf, selection, sorting } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const shown = useShownRows(rows.length, body);
  const keys = useTableKeys(body, rows.length, shown.scrollTo);
  return (
    <table
      role="grid"
      aria-label={what}
      aria-rowcount={rows.length + 1}
      {...(selection === undefined ? {} : { "aria-multiselectable": true })}
      className={`${styles["grid"]} ${className} ${selection === undefined ? "" : styles["selectable"]}`}
    >
      <KeptHead rows={rows} {...{ columns, sorting, selection }} idOf={idOf as (row: unknown) => string} />
      <ButtonContext.Provider value={NO_TAB_STOP}>
        <Body {...props} body={body} shown={shown} keys={keys} />
      </ButtonContext.Provider>
    </table>
  );
}

interface BodyProps<Row> extends TableProps<Row> {
  readonly body: RefObject<HTMLTableSectionElement | null>;
  readonly shown: ShownRows;
  readonly keys: TableKeys;
}

function Body<Row>({ body, shown, keys, ...props }: BodyProps<Row>) {
  const { rows, columns, idOf, textOf, linkOf, selection } = props;
  const own = { columns, idOf, textOf, linkOf, selection };
  return (
    <tbody role="rowgroup" ref={body} tabIndex={-1} className={styles["body"]} {...keys}>
      {shown.beforePx > 0 && <tr aria-hidden style={{ height: shown.beforePx }} />}
      {shown.indexes.map((index) => {
        const row = rows[index];
        if (row === undefined) return null;
        return <KeptRow key={idOf(row)} {...{ ...own, row, index }} measure={shown.measure} />;
      })}
      {shown.afterPx > 0 && <tr aria-hidden style={{ height: shown.afterPx }} />}
    </tbody>
  );
}

interface TableRowProps<Row>
  extends Pick<TableProps<Row>, "columns" | "idOf" | "textOf" | "linkOf" | "selection">,
    Pick<ShownRows, "measure"> {
  readonly row: Row;
  readonly index: number;
}

/** Drawn anew with the list alone, and not as it scrolls: a long list has long work for its head. */
const KeptHead = memo(TableHead);
const KeptRow = memo(TableRow) as typeof TableRow;

function TableRow<Row>({ row, index, columns, idOf, textOf, linkOf, selection, measure }: TableRowProps<Row>) {
  const [id, href] = [idOf(row), linkOf?.(row) ?? null];
  const isChosen = selection?.chosen.has(id) ?? false;
  return (
    <tr
      role="row"
      // Never another value here: the row that Tab comes to is marked in the document alone.
      tabIndex={-1}
      aria-label={textOf(row)}
      aria-rowindex={index + 2}
      data-key={id}
      data-index={index}
      {...(href === null ? {} : { "data-href": href })}
      {...(selection === undefined ? {} : { "aria-selected": isChosen })}
      {...(measure === null ? {} : { ref: measure })}
      className={styles["row"]}
      onClick={openUnlessControl}
    >
      {selection !== undefined && (
        <td role="gridcell" className={styles["choose"]}>
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={`Select ${textOf(row)}`}
            checked={isChosen}
            onChange={() => selection.onChange(withOrWithout(selection.chosen, id))}
          />
        </td>
      )}
      {columns.map((column) => (
        <td
          key={column.key}
          role="gridcell"
          data-heading={column.heading}
          title={column.wholeOf?.(row)}
          className={cellClass(column)}
        >
          {column.narrow === "title" && href !== null ? (
            <Link href={href} routerOptions={{ isRow: true }} data-row-link="" className={styles["link"] ?? ""}>
              {column.cell(row)}
            </Link>
          ) : (
            column.cell(row)
          )}
        </td>
      ))}
    </tr>
  );
}

function withOrWithout(chosen: ReadonlySet<string>, id: string): ReadonlySet<string> {
  return chosen.has(id) ? new Set([...chosen].filter((each) => each !== id)) : new Set([...chosen, id]);
}

/** A press on a row opens it, but for presses on its controls and those that end the selection of a text. */
function openUnlessControl({ target, currentTarget }: MouseEvent<HTMLElement>): void {
  if (!(target instanceof Element) || !currentTarget.contains(target)) return;
  if (target.closest("a, button, input") !== null) return;
  if (window.getSelection()?.isCollapsed === false) return;
  currentTarget.querySelector<HTMLElement>("[data-row-link]")?.click();
}
