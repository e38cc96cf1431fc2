/**
 * Replays: dead letters that are sent again by a plan. The plan is one record, which any control process may change;
 * the progress is another, which only the one runner writes.
 *
 * RP1  A plan names its dead letters for good: those between fixed offsets that fit its filter, but for the places that
 *      it leaves out. Any runner, at any time, sends no other dead letter.
 * RP2  Progress belongs to one runner, by its generation: a runner that begins or goes on raises the generation, and a
 *      runner of an older generation may not write any more.
 * RP3  A runner sends at most `REPLAY_BATCH` dead letters beyond the progress that it last wrote. So a runner that ends
 *      anywhere, or goes on without knowing that it was taken over, causes at most that many dead letters to be sent
 *      twice.
 * RP4  Every dead letter of the plan that the progress has passed is counted once: as sent, or as skipped by a cause.
 */

/** Why a dead letter that fits the filter is not sent. */
export const SKIP_CAUSES = [
  /** An attempt that began after the dead letter was written delivered. */
  "deliveredSince",
  /** An earlier replay sent it; it may be under way. */
  "replayedBefore",
  /** The dead letter's user is suppressed, or was when the dead letter was written: then it has no body. */
  "suppressed",
  "destinationOff",
  "destinationRemoved",
  /** It was purged. */
  "purged",
  /** Retention deleted the dead letter while the replay was paused or waited. */
  "expired",
] as const;
export type SkipCause = (typeof SKIP_CAUSES)[number];
export type SkippedCounts = Readonly<Record<SkipCause, number>>;

export const NONE_SKIPPED: SkippedCounts = {
  deliveredSince: 0,
  replayedBefore: 0,
  suppressed: 0,
  destinationOff: 0,
  destinationRemoved: 0,
  purged: 0,
  expired: 0,
};

/** The state that a caller desires of a plan. */
export const REPLAY_DESIRED_STATES = ["planned", "running", "paused", "cancelled"] as const;
export type ReplayDesiredState = (typeof REPLAY_DESIRED_STATES)[number];

/** The present or last state of the runner. `waiting`: the runner stopped in order, and the next one goes on. */
export const RUN_STATES = ["waiting", "running", "paused", "cancelled", "done", "failed"] as const;
export type RunState = (typeof RUN_STATES)[number];

/** The states of a replay as callers see them; also `waiting` for one that is wanted and not begun. */
export const REPLAY_STATES = ["planned", ...RUN_STATES] as const;
export type ReplayState = (typeof REPLAY_STATES)[number];

export interface PartitionOffset {
  readonly partition: number;
  readonly offset: number;
}

export interface ReplayProgress {
  /** RP2. */
  readonly generation: number;
  readonly state: RunState;
  /** The next offset of each partition; a partition that is not named stands at the plan's start. */
  readonly next: readonly PartitionOffset[];
  /** How many dead letters the brokers have acknowledged as deliveries. */
  readonly sent: number;
  /** How many dead letters of the plan were found to be skipped, by cause. */
  readonly leftOut: SkippedCounts;
  /** How often a runner took over from one that ended without writing so. */
  readonly takeovers: number;
  readonly beganAtMs: number;
  /** When the replay ended; null before. */
  readonly endedAtMs: number | null;
}

/** The most dead letters that are sent before the progress is written (RP3). */
export const REPLAY_BATCH = 1000;

/** The state of a replay as callers see it: a running one counts as running until its runner has stopped. */
export function replayState(want: ReplayDesiredState, progress: ReplayProgress | undefined): ReplayState {
  if (progress !== undefined && (isEnded(progress) || progress.state === "running")) return progress.state;
  return want === "running" ? "waiting" : want;
}

export function isEnded({ endedAtMs }: Pick<ReplayProgress, "endedAtMs">): boolean {
  return endedAtMs !== null;
}

/** Whether a runner has something to do: to send, or to record that it stopped. */
export function isDue(want: ReplayDesiredState, progress: ReplayProgress | undefined): boolean {
  if (want === "planned" || (progress !== undefined && isEnded(progress))) return false;
  return want !== "paused" || progress?.state === "running";
}

export const REPLAY_ACTS = ["start", "pause", "resume", "cancel"] as const;
export type ReplayAct = (typeof REPLAY_ACTS)[number];

const FROM: Readonly<Record<ReplayAct, readonly ReplayState[]>> = {
  start: ["planned"],
  pause: ["waiting", "running"],
  resume: ["paused"],
  cancel: ["waiting", "running", "paused"],
};
const TO: Readonly<Record<ReplayAct, ReplayDesiredState>> = {
  start: "running",
  pause: "paused",
  resume: "running",
  cancel: "cancelled",
};

/**
 * The desired state after an act; null where the present state does not allow the act. An act for the present desired
 * state is allowed, so that a caller may repeat it.
 */
export function desiredStateAfter(
  act: ReplayAct,
  want: ReplayDesiredState,
  progress: ReplayProgress | undefined,
): ReplayDesiredState | null {
  const isDone = progress !== undefined && isEnded(progress);
  // The last act counts, whether or not the runner has obeyed it yet.
  const state = isDone ? progress.state : want;
  if (FROM[act].includes(state)) return TO[act];
  return want === TO[act] && (!isDone || state === want) ? want : null;
}

/** RP2: the progress of a runner that begins, or goes on where another stopped or is given up. */
export function claimProgress(held: ReplayProgress | undefined, nowMs: number): ReplayProgress {
  if (held === undefined) {
    const begun = { next: [], sent: 0, leftOut: NONE_SKIPPED, takeovers: 0, beganAtMs: nowMs, endedAtMs: null };
    return { generation: 1, state: "running", ...begun };
  }
  const takeovers = held.takeovers + (held.state === "running" ? 1 : 0);
  return { ...held, generation: held.generation + 1, state: "running", takeovers };
}

/** RP2: whether the runner that claimed `mine` may still write over the progress that is held. */
export function canWrite(held: ReplayProgress | undefined, mine: ReplayProgress): boolean {
  return held !== undefined && held.generation === mine.generation && !isEnded(held);
}

/** RP3: how many dead letters may be sent before the progress is written again. */
export function sendableDeadLetters(progress: ReplayProgress, written: ReplayProgress, batch = REPLAY_BATCH): number {
  return batch - (progress.sent - written.sent);
}

/** A runner's step in one partition: it has passed every offset below `next`. */
export interface ReplayStep {
  readonly partition: number;
  readonly next: number;
  readonly sent: number;
  readonly leftOut: readonly SkipCause[];
}

/** RP4. */
export function advanceProgress(progress: ReplayProgress, step: ReplayStep): ReplayProgress {
  const { partition, next } = step;
  const others = progress.next.filter((each) => each.partition !== partition);
  return {
    ...progress,
    next: [...others, { partition, offset: next }],
    sent: progress.sent + step.sent,
    leftOut: addSkipped(progress.leftOut, step.leftOut),
  };
}

export function addSkipped(counts: SkippedCounts, causes: Iterable<SkipCause>): SkippedCounts {
  const sum = { ...counts };
  for (const cause of causes) sum[cause] += 1;
  return sum;
}

/** The offset at which a runner goes on in a partition; `start` when none of it was passed. */
export function nextOffset(progress: ReplayProgress, { partition, offset: start }: PartitionOffset): number {
  return progress.next.find((each) => each.partition === partition)?.offset ?? start;
}
