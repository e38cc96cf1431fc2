/** Plans over dead letters, and their progress, as records of `posthaste.replays`. */
import type { DeadLetterFilter } from "@posthaste/core/replay/dead-letter-filter";
import { NONE_SKIPPED, type ReplayProgress, SKIP_CAUSES, type SkippedCounts } from "@posthaste/core/replay/replay";
import type { PlanCounting, ReplayPlan } from "@posthaste/core/replay/replay-plan";
import type { Codec } from "./codec.ts";

/** A runner's progress, as it is recorded, with the places of the dead letters that the runner skipped. */
export interface RecordedProgress extends ReplayProgress {
  readonly leftOutPlaces: Uint8Array;
  readonly updatedAtMs: number;
}

/** A plan, the progress of one, or the counts of a process. Two of the three fields are null. */
export interface ReplayRecord {
  readonly id: string;
  readonly revision: number;
  readonly plan: ReplayPlan | null;
  readonly progress: RecordedProgress | null;
  /** The plans that a process is counting, in the order in which it counts them. */
  readonly counting: readonly PlanCounting[] | null;
}

type Nulled<T> = { readonly [Key in keyof T]-?: Exclude<T[Key], undefined> | null };

type WithAvroFilter<T> = Omit<T, "filter"> & { readonly filter: Nulled<DeadLetterFilter> };

/** The record of `schemas/replay.avsc`. */
export interface AvroReplayRecord extends Omit<ReplayRecord, "plan" | "counting"> {
  readonly plan: WithAvroFilter<ReplayPlan> | null;
  readonly counting: readonly WithAvroFilter<PlanCounting>[] | null;
}

/** The key of a plan's progress. */
export function progressKey(planId: string): string {
  return `${planId}:progress`;
}

/** The key of the counts that a process is making. */
export function countingKey(processId: string): string {
  return `counting:${processId}`;
}

/** The id of the plan that a key names, as the key of the plan itself or of its progress. */
export function planIdOf(key: string): string {
  return key.replace(/:progress$/, "");
}

/** Codec of plans, progress and counts. It decodes to plain objects. */
export function createReplayCodec(raw: Codec<AvroReplayRecord>): Codec<ReplayRecord> {
  return {
    encode: ({ id, revision, plan, progress, counting }) =>
      raw.encode({
        id,
        revision,
        plan:
          plan === null
            ? null
            : { ...plan, filter: nulled(plan.filter), leftOutPlaces: Buffer.from(plan.leftOutPlaces) },
        progress: progress === null ? null : { ...progress, leftOutPlaces: Buffer.from(progress.leftOutPlaces) },
        counting: counting?.map((each) => ({ ...each, filter: nulled(each.filter) })) ?? null,
      }),
    prefetch: raw.prefetch,
    decode: (bytes) => {
      const { id, revision, plan, progress, counting } = raw.decode(bytes);
      return {
        id,
        revision,
        plan: plan === null ? null : plainPlan(plan),
        progress: progress === null ? null : plainProgress(progress),
        counting: counting?.map((each) => ({ ...each, filter: given(each.filter) })) ?? null,
      };
    },
  };
}

function plainPlan(plan: NonNullable<AvroReplayRecord["plan"]>): ReplayPlan {
  return {
    ...plan,
    filter: given(plan.filter),
    ranges: plan.ranges.map((range) => ({ ...range })),
    leftOut: counted(plan.leftOut),
    leftOutPlaces: Uint8Array.from(plan.leftOutPlaces),
    samples: plan.samples.map((sample) => ({ ...sample })),
  };
}

function plainProgress(progress: RecordedProgress): RecordedProgress {
  return {
    ...progress,
    next: progress.next.map((each) => ({ ...each })),
    leftOut: counted(progress.leftOut),
    leftOutPlaces: Uint8Array.from(progress.leftOutPlaces),
  };
}

/** The counts by this version's causes. Causes that only a later version knows are skipped. */
function counted(counts: SkippedCounts): SkippedCounts {
  const sum = { ...NONE_SKIPPED };
  for (const cause of SKIP_CAUSES) sum[cause] = counts[cause] ?? 0;
  return sum;
}

function nulled(filter: DeadLetterFilter): Nulled<DeadLetterFilter> {
  return {
    destinationId: filter.destinationId ?? null,
    reason: filter.reason ?? null,
    error: filter.error ?? null,
    type: filter.type ?? null,
    userId: filter.userId ?? null,
    sourceId: filter.sourceId ?? null,
    event: filter.event ?? null,
    sinceMs: filter.sinceMs ?? null,
    untilMs: filter.untilMs ?? null,
    messageIds: filter.messageIds ?? null,
    places: filter.places ?? null,
  };
}

function given(filter: Nulled<DeadLetterFilter>): DeadLetterFilter {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== null));
}
