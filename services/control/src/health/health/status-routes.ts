/** The route of the status: is anything wrong, where, since when, and is it tried again? */

import type { Freshness } from "@posthaste/core/freshness";
import { HEALTH_STATES, type HealthState } from "@posthaste/core/health/health-state";
import { latencyAt } from "@posthaste/core/health/latency-counts";
import { REPLAY_STATES, replayState } from "@posthaste/core/replay/replay";
import type { HeldPlan } from "@posthaste/dead-letters/replay-store";
import { freshAnswer, freshness } from "@posthaste/http-kit/freshness";
import { isoTime, isoTimeOrNull, tenths } from "@posthaste/http-kit/moment";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import type { ReadModel } from "@posthaste/read-model/read-model";
import type { Readiness } from "@posthaste/runtime/admin-server";
import { z } from "zod";
import type { FlowMeter } from "./flow-meter.ts";
import type { HealthBook, ReportedProcess } from "./health-book.ts";
import { viewAll } from "./health-routes.ts";
import { healthAnswer } from "./health-view.ts";
import type { KnownDestination, KnownHealth } from "./known-health.ts";

/** The most destinations that are shown of those that need somebody. */
const MOST_SHOWN = 20;
/** The whole steps of ten seconds that a rate is taken over. */
const RATE_STEPS = 6;
const RATE_SECONDS = 60;

const waitingTopics = z.array(z.object({ delayMs: z.int(), count: z.int() }));
const schedule = z.object({
  retryDelaysMs: z.array(z.int()),
  retryWindowMs: z.int(),
  windowRecords: z.int().describe("Deliveries that one partition's window holds."),
  attemptLog: z.object({
    failures: z.boolean().describe("Whether the delivery log has attempts that failed."),
    deliveredShare: z.number().describe("Of attempts that delivered, 0 to 1."),
  }),
});

const statusAnswer = z.object({
  ready: z.boolean().describe("Every service is."),
  services: z.array(
    z.object({ name: z.string(), ready: z.boolean(), missing: z.string().nullable().describe("What it lacks.") }),
  ),
  receivedPerSecond: z.number().nullable().describe("Events, of the last minute; null just after control's start."),
  deliveredPerSecond: z.number().describe("Attempts that delivered, of the last minute."),
  p50Ms: z.number().nullable().describe("From the start of a request to its outcome, of the last minute."),
  p99Ms: z.number().nullable(),
  lag: z
    .object({ router: z.int().nullable(), delivery: z.int().nullable() })
    .describe("Records that the service has not finished; null where that is not known."),
  waiting: z.object({ total: z.int(), topics: waitingTopics }).describe("Records in retry topics, by delay."),
  destinations: z.object(
    Object.fromEntries(HEALTH_STATES.map((state) => [state, z.int()])) as Record<HealthState, z.ZodInt>,
  ),
  needsSomebody: z
    .array(healthAnswer)
    .describe(
      "Destinations that need somebody, the worst first, 20 at the most: open, or failing, unless it delivers again and " +
        "nothing is left to do.",
    ),
  needing: z.int().describe("How many destinations need somebody, those included that are not shown."),
  answeringAgain: z
    .array(
      z.object({
        ...{ destinationId: z.string(), name: z.string() },
        since: z.iso.datetime().nullable().describe("Since when it is healthy; null where that is not known."),
        deadLetters: z.int().describe("Open ones that a replay can deliver."),
        firstAt: z.iso.datetime().describe("From when on they died, to the hour."),
        lastAt: z.iso.datetime(),
      }),
    )
    .describe("Destinations that are healthy again and have dead letters that nobody replayed since, the most first."),
  replays: z.array(
    z.object({
      id: z.string(),
      destinationId: z.string().nullable(),
      state: z.enum(REPLAY_STATES),
      matched: z.int(),
      replayed: z.int(),
    }),
  ),
  ingestUrl: z.string().nullable().describe("Where sources send to; null where control was not told."),
  readModel: z.object({
    ...{ deliveryLog: z.string(), deadLetters: z.string() },
    reading: z
      .object({ left: z.int(), of: z.int() })
      .nullable()
      .describe("Records, while control reads its topics for the first time since its start; null otherwise."),
  }),
  schedule: schedule
    .extend({
      differ: z.boolean().describe("Delivery processes run with other settings than these."),
      processes: z.array(schedule.extend({ instance: z.string(), startedAt: z.iso.datetime() })),
    })
    .nullable()
    .describe("What control assumes: the settings of the newest delivery process. Null when none is heard of."),
  ...freshness,
});
type Status = z.output<typeof statusAnswer>;

/** A healthy destination with the dead letters that can be sent again. */
export interface AnsweringAgain {
  readonly known: KnownDestination;
  readonly deadLetters: { readonly open: number; readonly firstMs: number; readonly lastMs: number };
}

export interface StatusRoutesParts {
  readonly known: KnownHealth;
  readonly book: Pick<HealthBook, "rates" | "processes">;
  readonly flow: Pick<FlowMeter, "flow">;
  /** The reason why each service is not ready; `true` for a ready service. */
  readonly readiness: () => Promise<Readiness>;
  readonly plans: () => Iterable<HeldPlan>;
  readonly answeringAgain: (all: readonly KnownDestination[]) => Promise<readonly AnsweringAgain[]>;
  readonly ingestUrl: string | null;
  readonly readModel: Pick<ReadModel, "state" | "reading">;
  readonly fresh: () => Freshness;
  readonly nowMs: () => number;
}

export function statusRoutes(parts: StatusRoutesParts): readonly Route[] {
  const { known, readModel, fresh } = parts;
  return [
    defineRoute({
      method: "GET",
      path: "/v1/status",
      operation: "getStatus",
      summary: "Whether anything is wrong, where, since when, and whether it is tried again",
      answer: {
        status: 200,
        description: "As it is known now.",
        body: { name: "Status", schema: statusAnswer },
      },
      handle: async () => {
        const all = known.all();
        const counts = Object.fromEntries(HEALTH_STATES.map((state) => [state, 0])) as Record<HealthState, number>;
        for (const { judged } of all) counts[judged.state] += 1;
        const [readiness, attention, again] = await Promise.all([
          parts.readiness(),
          viewNeedingAttention(known, all),
          parts.answeringAgain(all),
        ]);
        const services = Object.entries(readiness).map(([name, missing]) => ({
          name,
          ready: missing === true,
          missing: missing === true ? null : missing,
        }));
        return {
          ready: services.every(({ ready }) => ready),
          services,
          ...viewRates(parts),
          destinations: counts,
          ...attention,
          answeringAgain: again.slice(0, MOST_SHOWN).map(viewAnsweringAgain),
          replays: viewReplays(parts.plans()),
          ingestUrl: parts.ingestUrl,
          readModel: { ...readModel.state(), reading: readModel.reading() },
          schedule: viewSchedule(parts.book.processes()),
          ...freshAnswer(fresh()),
        };
      },
    }),
  ];
}

async function viewNeedingAttention(known: KnownHealth, all: readonly KnownDestination[]) {
  const attention = await known.needingAttention(all);
  return { needsSomebody: await viewAll(known, attention.slice(0, MOST_SHOWN)), needing: attention.length };
}

function viewAnsweringAgain({ known: { destination, judged }, deadLetters }: AnsweringAgain) {
  const { open, firstMs, lastMs } = deadLetters;
  return {
    ...{ destinationId: destination.id, name: destination.name, since: isoTimeOrNull(judged.sinceMs) },
    ...{ deadLetters: open, firstAt: isoTime(firstMs), lastAt: isoTime(lastMs) },
  };
}

type Rates = Pick<Status, "receivedPerSecond" | "deliveredPerSecond" | "p50Ms" | "p99Ms" | "lag" | "waiting">;

function viewRates({ book, flow, nowMs }: StatusRoutesParts): Rates {
  const { receivedPerSecond, routerLag, deliveryLag, waiting } = flow.flow;
  const { rates } = book;
  // The unfinished step is left out: it lacks counts that processes have not reported yet, so every rate would be too
  // low.
  const { delivered } = rates.attempts(nowMs(), RATE_STEPS, 1);
  const latencies = rates.latencies(nowMs(), RATE_STEPS);
  const [p50Ms, p99Ms] = [0.5, 0.99].map((share) => latencyAt(latencies, share));
  return {
    receivedPerSecond: receivedPerSecond === null ? null : tenths(receivedPerSecond),
    deliveredPerSecond: tenths(delivered / RATE_SECONDS),
    p50Ms: p50Ms === undefined || p50Ms === null ? null : tenths(p50Ms),
    p99Ms: p99Ms === undefined || p99Ms === null ? null : tenths(p99Ms),
    lag: { router: routerLag, delivery: deliveryLag },
    waiting: { total: waiting.reduce((sum, { count }) => sum + count, 0), topics: [...waiting] },
  };
}

/** The replays that have not ended. */
function viewReplays(plans: Iterable<HeldPlan>): Status["replays"] {
  return [...plans]
    .filter(({ plan, progress }) => plan.purpose === "replay" && plan.want !== "planned" && !progress?.endedAtMs)
    .map(({ id, plan, progress }) => ({
      id,
      destinationId: plan.filter.destinationId ?? null,
      state: replayState(plan.want, progress),
      matched: plan.matched,
      replayed: progress?.sent ?? 0,
    }));
}

function viewSchedule(processes: readonly ReportedProcess[]): Status["schedule"] {
  const newest = processes.at(-1);
  if (newest === undefined) return null;
  const settings = processes.map(settingsOf);
  return {
    ...settingsOf(newest),
    differ: new Set(settings.map((each) => JSON.stringify(each))).size > 1,
    processes: processes.map((process) => ({
      instance: process.instance,
      startedAt: isoTime(process.startedAtMs),
      ...settingsOf(process),
    })),
  };
}

function settingsOf(process: ReportedProcess): z.output<typeof schedule> {
  const { retryDelaysMs, retryWindowMs, windowRecords, logsFailures, loggedShare } = process;
  const attemptLog = { failures: logsFailures, deliveredShare: loggedShare };
  return { retryDelaysMs: [...retryDelaysMs], retryWindowMs, windowRecords, attemptLog };
}
