/** The keys of a table (TB1 of table.tsx). The document marks the row that Tab comes to: a step draws nothing. */
import { type FocusEvent, type KeyboardEvent, type RefObject, useLayoutEffect, useRef } from "react";

/** Rows that Page Up and Page Down pass. */
const PAGE = 10;
const CONTROLS = "a[href]:not([data-row-link]), button, input";

export interface TableKeys {
  readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
  readonly onFocus: (event: FocusEvent<HTMLElement>) => void;
}

/** `scrollTo` brings a row into the document that does not stand in it. */
export function useTableKeys(
  body: RefObject<HTMLElement | null>,
  count: number,
  scrollTo: (index: number) => void,
): TableKeys {
  /** The row with the focus; kept while it does not stand in the document. */
  const current = useRef<number | null>(null);
  /** The row that gets the focus when it stands there. */
  const wanted = useRef<number | null>(null);
  /** Tab passes the last row: the table keeps its own. */
  const isLeaving = useRef(false);
  useLayoutEffect(() => {
    if (body.current === null) return;
    if (wanted.current !== null && focusRow(body.current, wanted.current)) wanted.current = null;
    keepTabStop(body.current);
  });
  const goTo = (index: number): void => {
    if (body.current === null || count === 0) return;
    const within = Math.max(0, Math.min(count - 1, index));
    if (focusRow(body.current, within)) return;
    wanted.current = within;
    // The keys go on from here, whatever row leaves the document.
    body.current.focus({ preventScroll: true });
    scrollTo(within);
  };
  return {
    onFocus: ({ target }) => {
      const row = rowOf(target);
      if (row === null || isLeaving.current || body.current?.contains(row) !== true) return;
      current.current = indexOf(row);
      for (const other of body.current.querySelectorAll('[data-index][tabindex="0"]'))
        other.setAttribute("tabindex", "-1");
      row.setAttribute("tabindex", "0");
    },
    onKeyDown: (event) => {
      if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
      // The menu of a row stands elsewhere in the document.
      if (!(event.target instanceof HTMLElement) || !event.currentTarget.contains(event.target)) return;
      const row = rowOf(event.target);
      const from = row === null ? current.current : indexOf(row);
      const isDone =
        stepTo(event.key, from, count, goTo) || (row !== null && (stepWithin(row, event.key) || actOn(row, event)));
      if (isDone) event.preventDefault();
      else if (event.key === "Tab") {
        isLeaving.current = true;
        leave(event.currentTarget, event.shiftKey);
        isLeaving.current = false;
      }
    },
  };
}

/** Returns whether the key is one that goes to another row. */
function stepTo(key: string, from: number | null, count: number, goTo: (index: number) => void): boolean {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: from === null ? 0 : from + 1,
    ArrowUp: (from ?? count) - 1,
    PageDown: (from ?? 0) + PAGE,
    PageUp: (from ?? 0) - PAGE,
    Home: 0,
    End: count - 1,
  };
  const index = steps[key];
  if (index === undefined) return false;
  goTo(index);
  return true;
}

/** Left and right, through the controls of a row and back to the row itself. */
function stepWithin(row: HTMLElement, key: string): boolean {
  if (key !== "ArrowRight" && key !== "ArrowLeft") return false;
  const stops = [row, ...row.querySelectorAll<HTMLElement>(CONTROLS)];
  const at = stops.indexOf(document.activeElement as HTMLElement);
  stops[(at + (key === "ArrowRight" ? 1 : stops.length - 1)) % stops.length]?.focus();
  return true;
}

/** Enter and Space of the row itself; its controls have their own. */
function actOn(row: HTMLElement, { key, target }: KeyboardEvent<HTMLElement>): boolean {
  if (target !== row || (key !== "Enter" && key !== " ")) return false;
  const pressed = row.querySelector<HTMLElement>(key === "Enter" ? "[data-row-link]" : "input[type=checkbox]");
  pressed?.click();
  return pressed !== null;
}

/** Tab goes on from the last control of the table, and back from its first row. */
function leave(body: HTMLElement, isBack: boolean): void {
  if (isBack) {
    body.focus({ preventScroll: true });
    return;
  }
  [...body.querySelectorAll<HTMLElement>(`[data-index], ${CONTROLS}`)].at(-1)?.focus({ preventScroll: true });
}

function focusRow(body: HTMLElement, index: number): boolean {
  const row = body.querySelector<HTMLElement>(`[data-index="${index}"]`);
  row?.focus();
  return row !== null;
}

/** One row is where Tab comes to: the last one with the focus, else the first. No link of a row is. */
function keepTabStop(body: HTMLElement): void {
  for (const link of body.querySelectorAll('a[href]:not([tabindex="-1"])')) link.setAttribute("tabindex", "-1");
  if (body.querySelector('[data-index][tabindex="0"]') !== null) return;
  body.querySelector("[data-index]")?.setAttribute("tabindex", "0");
}

function rowOf(element: Element): HTMLElement | null {
  return element.closest<HTMLElement>("[data-index]");
}

function indexOf(row: HTMLElement): number {
  return Number(row.dataset["index"]);
}
