/** Keys of the parts on the page; the frame listens for them, so that `g r` is no `r`. */
import { useEffect, useRef } from "react";

export type PageKey = "c" | "f" | "r";

const actions = new Map<PageKey, () => void>();

/** The key's action while the caller is on the page; null for none. */
export function usePageKey(key: PageKey, action: (() => void) | null): void {
  const newest = useRef(action);
  newest.current = action;
  const isOn = action !== null;
  useEffect(() => {
    if (!isOn) return;
    const act = (): void => newest.current?.();
    actions.set(key, act);
    return () => {
      if (actions.get(key) === act) actions.delete(key);
    };
  }, [key, isOn]);
}

/** Does nothing on a page that has no use for it. */
export function pressPageKey(key: PageKey): void {
  actions.get(key)?.();
}
