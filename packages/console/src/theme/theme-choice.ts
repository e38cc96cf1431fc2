/** Light, dark, or as the machine has it: kept in this browser. */
import { useSyncExternalStore } from "react";

const KEY = "posthaste-theme";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

export const THEME_WORDS: Readonly<Record<Theme, string>> = {
  ...{ system: "As the machine", light: "Light", dark: "Dark" },
};

const listeners = new Set<() => void>();

export function chosenTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return THEMES.find((theme) => theme === kept) ?? "system";
}

/** The chosen one, wherever it is chosen. */
export function useTheme(): Theme {
  return useSyncExternalStore(listen, chosenTheme);
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  showTheme();
  for (const listener of listeners) listener();
}

/** Puts the chosen theme where tokens.css looks for it. */
export function showTheme(): void {
  const theme = chosenTheme();
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
