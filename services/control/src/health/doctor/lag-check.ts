/** Checks that the consumer groups make progress on the records before them. */
import type { StalledPartition } from "../health/lag-watch.ts";
import type { Check } from "./check.ts";

export function lagCheck(stalled: () => readonly StalledPartition[]): Check {
  return {
    name: "lag",
    look: () =>
      stalled().map(({ topic, partition, groupId, behind, stalledMs }) => ({
        state: "wrong",
        what:
          `${groupId} has finished nothing of ${topic}/${partition} for ${Math.round(stalledMs / 1000)} s, ` +
          `and ${behind === 1 ? "one record waits" : `${behind} records wait`}.`,
        remedy: `See whether a process of ${groupId} runs and what its log says; its /readyz names what it waits for.`,
      })),
  };
}
