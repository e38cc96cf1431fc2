/**
 * Keys of the whole console. Single letters can be switched off, and none is taken from a field, a list that searches
 * by typing, or an open dialog.
 */
import { useEffect } from "react";

const KEY = "posthaste-letters";
/** How long after `g` the second letter may come. */
const CHORD_MS = 1500;

export function areLettersOn(): boolean {
  return localStorage.getItem(KEY) !== "off";
}

export function switchLetters(isOn: boolean): void {
  if (isOn) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, "off");
}

/** By key: `/`, `?`, `g d` for a chord, `Ctrl+k`. */
export type KeyActions = Readonly<Record<string, () => void>>;

/** Runs a key's action while the caller is on the page. */
export function useKeys(actions: KeyActions): void {
  useEffect(() => {
    let chord: { readonly first: string; readonly atMs: number } | null = null;
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing) return;
      const isControl = event.ctrlKey || event.metaKey;
      if (!isControl && (event.altKey || isTyping(event.target) || isInDialog(event.target) || !areLettersOn())) return;
      const pressed = isControl ? `Ctrl+${event.key.toLowerCase()}` : event.key;
      const name = chord !== null && event.timeStamp - chord.atMs < CHORD_MS ? `${chord.first} ${pressed}` : pressed;
      chord = null;
      const action = actions[name];
      if (action !== undefined) {
        event.preventDefault();
        action();
      } else if (Object.keys(actions).some((each) => each.startsWith(`${pressed} `))) {
        chord = { first: pressed, atMs: event.timeStamp };
      }
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [actions]);
}

export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("input:not([type=checkbox], [type=radio]), textarea, select"))
  );
}

function isInDialog(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("[role=dialog], [role=menu], [role=listbox]") !== null;
}
