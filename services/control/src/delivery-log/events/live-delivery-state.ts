/** The live state for sentences about a delivery: its retry topic, the retry delays, its destination's obstacles. */
import { retryTopicName, type TopicNames } from "@posthaste/contracts/topics";
import type { DestinationHealth, ProcessHealth } from "@posthaste/core/health/health-record";

/** The present obstacles to requests to a destination; moments are ms since the epoch. */
export interface Obstacle {
  /** The earliest probe of a breaker that is not closed; null where there is none. */
  readonly nextProbeMs: number | null;
  /** Until when a receiver asked not to be called; null for not at all. */
  readonly notBeforeMs: number | null;
}

export interface LiveDeliveryState {
  readonly retryTopic: (delayMs: number) => string;
  /** The schedule that control assumes: the newest delivery process's; null while none is heard of. */
  readonly retryDelaysMs: () => readonly number[] | null;
  readonly obstacle: (destinationId: string) => Obstacle;
}

export interface ReportedHealth {
  /** The one that was started last at the end. */
  readonly processes: () => readonly Pick<ProcessHealth, "retryDelaysMs">[];
  readonly of: (destinationId: string) => readonly Pick<DestinationHealth, "urls">[];
}

export function liveDeliveryState(names: TopicNames, seen: ReportedHealth): LiveDeliveryState {
  return {
    retryTopic: (delayMs) => retryTopicName(names, delayMs),
    retryDelaysMs: () => seen.processes().at(-1)?.retryDelaysMs ?? null,
    obstacle: (destinationId) => {
      const urls = seen.of(destinationId).flatMap((each) => each.urls);
      const probes = urls.flatMap(({ nextProbeMs }) => nextProbeMs ?? []);
      const ends = urls.flatMap(({ notBeforeMs }) => notBeforeMs ?? []);
      return {
        nextProbeMs: probes.length === 0 ? null : Math.min(...probes),
        notBeforeMs: ends.length === 0 ? null : Math.max(...ends),
      };
    },
  };
}
