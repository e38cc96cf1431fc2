/** Steps to the next row of the page's list as the arrows do, from its first where none has the focus. */
export function stepRows(by: 1 | -1): void {
  const list = document.querySelector<HTMLElement>("main [role=grid]");
  if (list === null) return;
  const focused = document.activeElement;
  if (!(focused instanceof HTMLElement) || !list.contains(focused)) {
    list.querySelector<HTMLElement>("[role=row][data-key]")?.focus();
    return;
  }
  focused.dispatchEvent(new KeyboardEvent("keydown", { key: by === 1 ? "ArrowDown" : "ArrowUp", bubbles: true }));
}

/** Presses the button that sends the focused row again. A menu, or a button that cannot be pressed, gets the focus. */
export function pressRowResend(): void {
  const button = focusedRow()?.querySelector<HTMLElement>("[data-resend]");
  if (button?.matches("[aria-disabled=true], [aria-haspopup]") === true) button.focus();
  else button?.click();
}

/** The key of the row that has the focus; null where none has. */
export function focusedRowKey(): string | null {
  return focusedRow()?.getAttribute("data-key") ?? null;
}

function focusedRow(): Element | null {
  return document.activeElement?.closest("main [role=row][data-key]") ?? null;
}
