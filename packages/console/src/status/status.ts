/** Whether anything is wrong, for the overview and for the tab's title and icon. */
import { useQuery } from "@tanstack/react-query";
import type { Status } from "../api/api-types.ts";
import { asked } from "../api/asked.ts";

/** Also in a tab that is not shown: its title is seen all the same. */
const AGAIN_MS = 15_000;

export type WorstState = "open" | "failing" | "healthy";

export const statusQuery = asked("GET /v1/status", {});

export function worstOf({ ready, destinations, needing }: Status): WorstState {
  if (destinations.open > 0 || !ready) return "open";
  return needing > 0 ? "failing" : "healthy";
}

/** Healthy until it is known. */
export function useWorstState(): WorstState {
  const { data } = useQuery({ ...statusQuery, refetchInterval: AGAIN_MS, refetchIntervalInBackground: true });
  return data === undefined ? "healthy" : worstOf(data);
}
