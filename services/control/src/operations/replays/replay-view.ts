/** Plans and replays as the API shows them. */
import { nextOffset, REPLAY_STATES, replayState, SKIP_CAUSES, type SkipCause } from "@posthaste/core/replay/replay";
import { PLAN_PURPOSES, type ReplayPlan } from "@posthaste/core/replay/replay-plan";
import type { MadePlan } from "@posthaste/dead-letters/planner";
import type { ReplayOutcomes } from "@posthaste/dead-letters/replay-outcomes";
import type { HeldPlan } from "@posthaste/dead-letters/replay-store";
import type { ReportedCount } from "@posthaste/dead-letters/reported-counts";
import { z } from "zod";
import { deadLetterFilter, viewFilter } from "./dead-letter-query.ts";

const time = z.iso.datetime();

const CAUSE_WORDS: Readonly<Record<SkipCause, string>> = {
  deliveredSince: "An attempt that began after they died was delivered.",
  replayedBefore: "A replay sent them already.",
  suppressed: "Those of users whose events a deletion request stopped, and what was dropped for that.",
  destinationOff: "Their destination is switched off.",
  destinationRemoved: "Their destination is no more.",
  purged: "They were purged.",
  expired: "Their topic's retention took them before their turn came.",
};

export const skippedCounts = z
  .object(
    Object.fromEntries(SKIP_CAUSES.map((cause) => [cause, z.int().describe(CAUSE_WORDS[cause])])) as Record<
      SkipCause,
      z.ZodInt
    >,
  )
  .describe("Dead letters that fitted and are not sent again, by why.");

export const planAnswer = z.object({
  id: z.string().nullable().describe("Of the replay; null when nothing is sent: a dry run, or nothing matched."),
  plan: z.string().nullable().describe("Of a dry run: what starts it, for an hour; null when nothing matched."),
  matched: z.int().describe("Dead letters that are sent, or would be."),
  leftOut: skippedCounts,
  countedAt: time.describe("Where its end is fixed: what died later is none of it."),
  expiresAt: time.nullable().describe("When the plan is gone unless it was started."),
  counts: z
    .array(
      z.object({
        destinationId: z.string(),
        reason: z.string(),
        error: z.string().nullable(),
        type: z.string(),
        count: z.int(),
      }),
    )
    .describe("Of those that match, the 100 largest groups; empty for a plan that was made before."),
  samples: z.array(
    z.object({
      place: z.string(),
      time,
      messageId: z.string(),
      destinationId: z.string(),
      reason: z.string(),
      type: z.string(),
    }),
  ),
});

export const countingAnswer = z.object({
  purpose: z.enum(PLAN_PURPOSES),
  filter: deadLetterFilter.describe("Which dead letters are counted."),
  again: z.boolean().describe("Those too that were delivered since or replayed before."),
  askedAt: time,
  looked: z.int().describe("Dead letters that were looked at so far."),
  of: z.int().nullable().describe("About how many there are to look at; null before it has begun."),
  before: z.int().describe("Counts that its process makes first."),
});

export const replayAnswer = z.object({
  id: z.string(),
  state: z.enum(REPLAY_STATES),
  matched: z.int().describe("Dead letters that were counted for it."),
  replayed: z.int().describe("Deliveries that the brokers have."),
  delivered: z
    .int()
    .nullable()
    .describe("Of those, what receivers took, so far as the delivery log is read; null while it cannot be asked."),
  failedAgain: z.int().nullable().describe("Of those, what became a dead letter again; null as `delivered` is."),
  leftOut: skippedCounts,
  leftOutSince: skippedCounts.describe(
    "Those of `leftOut` that were counted, and then not sent: `matched` less `replayed` at the end.",
  ),
  ratePerSecond: z.number().nullable().describe("Deliveries a second at the most; null for no limit."),
  filter: deadLetterFilter.describe("Which dead letters were asked for."),
  again: z.boolean().describe("Those too that were delivered since or replayed before."),
  offsets: z
    .object({ passed: z.int(), of: z.int() })
    .describe("How much of the topic, as it was when they were counted, is passed."),
  takeovers: z.int().describe("How often another control process went on; each time up to 1,000 were sent twice."),
  createdAt: time.describe("When it was counted, and its end fixed: what died later is none of it."),
  startedAt: time.nullable(),
  endedAt: time.nullable().describe("Null before its end."),
});

export function viewPlan({ plan, counts }: MadePlan, { id, planId }: PlanIds): z.input<typeof planAnswer> {
  return {
    id,
    plan: planId,
    matched: plan.matched,
    leftOut: plan.leftOut,
    countedAt: new Date(plan.createdAtMs).toISOString(),
    expiresAt: planId === null ? null : new Date(plan.expiresAtMs).toISOString(),
    counts: [...counts],
    samples: plan.samples.map(({ deadAtMs, ...sample }) => ({ ...sample, time: new Date(deadAtMs).toISOString() })),
  };
}

export function viewCounting(count: ReportedCount): z.input<typeof countingAnswer> {
  const { askedAtMs, filter, purpose, again, looked, of, before } = count;
  const askedAt = new Date(askedAtMs).toISOString();
  return { ...{ purpose, again, looked, of, before, askedAt }, filter: viewFilter(filter) };
}

export interface PlanIds {
  readonly id: string | null;
  readonly planId: string | null;
}

/** `outcomes`: null where the delivery log was not asked. */
export function viewReplay(
  { id, plan, progress }: HeldPlan,
  outcomes: ReplayOutcomes | null,
): z.input<typeof replayAnswer> {
  const { want, matched, leftOut, ratePerSecond, filter, again, createdAtMs, startedAtMs } = plan;
  const since = progress?.leftOut;
  const endedAtMs = progress?.endedAtMs ?? null;
  const added = Object.fromEntries(SKIP_CAUSES.map((cause) => [cause, leftOut[cause] + (since?.[cause] ?? 0)]));
  const none = Object.fromEntries(SKIP_CAUSES.map((cause) => [cause, 0]));
  return {
    ...{ id, matched, ratePerSecond, again },
    state: replayState(want, progress),
    replayed: progress?.sent ?? 0,
    delivered: outcomes?.delivered ?? null,
    failedAgain: outcomes?.failedAgain ?? null,
    leftOut: skippedCounts.parse(added),
    leftOutSince: skippedCounts.parse(since ?? none),
    filter: viewFilter(filter),
    offsets: offsetsOf(plan, progress),
    takeovers: progress?.takeovers ?? 0,
    createdAt: new Date(createdAtMs).toISOString(),
    startedAt: startedAtMs === null ? null : new Date(startedAtMs).toISOString(),
    endedAt: endedAtMs === null ? null : new Date(endedAtMs).toISOString(),
  };
}

function offsetsOf({ ranges }: ReplayPlan, progress: HeldPlan["progress"]): { passed: number; of: number } {
  let [passed, of] = [0, 0];
  for (const { partition, start, end } of ranges) {
    of += end - start;
    if (progress !== undefined) passed += Math.min(end, nextOffset(progress, { partition, offset: start })) - start;
  }
  return { passed, of };
}
