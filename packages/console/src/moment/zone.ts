/** The zone in which moments are told, kept in this browser; and the present moment, which goes on by itself. */
import { useSyncExternalStore } from "react";

const KEY = "posthaste-zone";
/** How often the distance from now is told anew. */
const TICK_MS = 5000;

const listeners = new Set<() => void>();
let now = new Date();
/** To ask for it costs more than to tell a moment in it. */
let zone = chosenZone();

/** Tells the present moment and its zone anew. */
export function tellMoment(): void {
  now = new Date();
  zone = chosenZone();
  for (const listener of listeners) listener();
}

function listen(listener: () => void): () => void {
  const ticking = listeners.size === 0 ? setInterval(tellMoment, TICK_MS) : null;
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (ticking !== null) clearInterval(ticking);
  };
}

export function isUtcChosen(): boolean {
  return localStorage.getItem(KEY) === "UTC";
}

export function chooseUtc(isUtc: boolean): void {
  if (isUtc) localStorage.setItem(KEY, "UTC");
  else localStorage.removeItem(KEY);
  tellMoment();
}

/** The name of the zone in which moments are told. */
export function useZone(): string {
  return useSyncExternalStore(listen, () => zone);
}

function chosenZone(): string {
  return isUtcChosen() ? "UTC" : machineZone();
}

/** The browser's zone. */
export function machineZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Not older than `TICK_MS`. */
export function useNow(): Date {
  return useSyncExternalStore(listen, () => now);
}
