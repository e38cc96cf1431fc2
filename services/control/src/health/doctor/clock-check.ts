/** Checks that the clocks agree: retries come due and windows close by them, and lists tell their freshness by them. */

import type { Check, Finding } from "@posthaste/doctor/check";
import type { ProcessClock } from "../health/process-clocks.ts";
import type { ServiceAddress } from "./service-readiness.ts";

/** A difference, in ms, that clocks kept by NTP never reach and that does no harm here. */
const TOLERATED_MS = 5000;
const TIMEOUT_MS = 2000;
/** Half a second, in ms: the header `Date` has whole seconds, rounded down. */
const HALF_SECOND_MS = 500;

export interface ClockParts {
  readonly nowMs: () => number;
  readonly services: readonly ServiceAddress[];
  readonly processes: () => readonly ProcessClock[];
  /** Retry topics with records that the brokers say they wrote after this moment, ms since the epoch. */
  readonly topicsFrom: (atMs: number) => Promise<readonly string[]>;
}

export function clockCheck({ nowMs, services, processes, topicsFrom }: ClockParts): Check {
  return {
    name: "clocks",
    look: async () => {
      const [aheads, future] = await Promise.all([
        Promise.all(services.map(async ({ name, url }) => ({ name, aheadMs: await clockAhead(url, nowMs) }))),
        topicsFrom(nowMs() + TOLERATED_MS),
      ]);
      return [
        ...aheads.flatMap(({ name, aheadMs }) => findingOf(`The clock of ${name}`, aheadMs)),
        ...processes().flatMap(({ instance, aheadMs }) => findingOf(`The clock of delivery ${instance}`, aheadMs)),
        ...future.map((topic): Finding => {
          return {
            state: "wrong",
            what: `A broker's clock is ahead of control's: ${topic} has records from the future, which come due late.`,
            remedy: "Set the clocks of the brokers and of this machine by NTP (chronyc tracking, timedatectl).",
          };
        }),
      ];
    },
  };
}

/** How far the service's clock is ahead, in ms; null for a service that does not say. */
async function clockAhead(url: string, nowMs: () => number): Promise<number | null> {
  const askedMs = nowMs();
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: "error" });
    await response.body?.cancel();
    const reportedMs = Date.parse(response.headers.get("date") ?? "");
    return Number.isNaN(reportedMs) ? null : reportedMs + HALF_SECOND_MS - (askedMs + nowMs()) / 2;
  } catch {
    return null;
  }
}

function findingOf(whose: string, aheadMs: number | null): readonly Finding[] {
  if (aheadMs === null || Math.abs(aheadMs) < TOLERATED_MS) return [];
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  return [
    {
      state: "wrong",
      what: `${whose} is ${seconds} s ${aheadMs > 0 ? "ahead of" : "behind"} control's.`,
      remedy: "Set both machines' clocks by NTP (chronyc tracking, timedatectl).",
    },
  ];
}
