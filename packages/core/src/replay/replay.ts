/**
 * Replays: dead letters that are sent again by a plan. The plan is one record, which whoever is asked changes; how far
 * it is carried out is another, which the one runner writes.
 *
 * RP1  A plan names its letters for good: those between fixed offsets that fit its filter, but for the places that it
 *      leaves out. Whoever carries it out, whenever, sends no other.
 * RP2  Progress is of one runner, told by its generation: who begins or goes on raises it, and what an older generation
 *      would write is refused.
 * RP3  A runner sends no more than `REPLAY_BATCH` letters beyond its last written progress. So a runner that ends
 *      anywhere leaves that many, at the most, to be sent twice, and one that lives on unknowingly sends that many.
 * RP4  Every letter of the plan that the progress has passed is counted once: as sent, or as left out by a cause.
 */

/** Why a letter that fits is not sent. */
export const LEFT_OUT_CAUSES = [
  /** An attempt that began after it died was delivered. */
  "deliveredSince",
  /** An earlier replay sent it; it may be under way. */
  "replayedBefore",
  /** Its user is suppressed, or was when it died: then it has no body. */
  "suppressed",
  "destinationOff",
  "destinationRemoved",
  /** It was purged. */
  "purged",
  /** Its topic's retention took it while the replay was paused or waited. */
  "expired",
] as const;
export type LeftOutCause = (typeof LEFT_OUT_CAUSES)[number];
export type LeftOutCounts = Readonly<Record<LeftOutCause, number>>;

export const NONE_LEFT_OUT: LeftOutCounts = {
  deliveredSince: 0,
  replayedBefore: 0,
  suppressed: 0,
  destinationOff: 0,
  destinationRemoved: 0,
  purged: 0,
  expired: 0,
};

/** What is wanted of a plan; whoever is asked says so. */
export const REPLAY_WANTS = ["planned", "running", "paused", "cancelled"] as const;
export type ReplayWant = (typeof REPLAY_WANTS)[number];

/** What the runner is at, or came to. `waiting`: it ended in order, and the next goes on. */
export const RUN_STATES = ["waiting", "running", "paused", "cancelled", "done", "failed"] as const;
export type RunState = (typeof RUN_STATES)[number];

/** As it is told; `waiting` too for what is wanted and not begun yet. */
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
  /** The next offset of each partition; the plan's start where none is named. */
  readonly next: readonly PartitionOffset[];
  /** Letters that the brokers have as deliveries. */
  readonly sent: number;
  /** Letters of the plan that were not sent after all. */
  readonly leftOut: LeftOutCounts;
  /** How often another runner went on where one had ended without a word. */
  readonly takeovers: number;
  readonly beganAtMs: number;
  /** Null before its end. */
  readonly endedAtMs: number | null;
}

/** Letters that are sent without their progress being written (RP3). */
export const REPLAY_BATCH = 1000;

/** The state that is told of a plan and how far it is: what runs is told so until its runner has stopped. */
export function replayState(want: ReplayWant, progress: ReplayProgress | undefined): ReplayState {
  if (progress !== undefined && (isEnded(progress) || progress.state === "running")) return progress.state;
  return want === "running" ? "waiting" : want;
}

export function isEnded({ endedAtMs }: Pick<ReplayProgress, "endedAtMs">): boolean {
  return endedAtMs !== null;
}

/** Whether the runner has something to do: to send, or to put on record that it stopped. */
export function isDue(want: ReplayWant, progress: ReplayProgress | undefined): boolean {
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
const TO: Readonly<Record<ReplayAct, ReplayWant>> = {
  start: "running",
  pause: "paused",
  resume: "running",
  cancel: "cancelled",
};

/**
 * What is wanted after an act; null where the state does not allow it. What an act asks for and stands already is
 * allowed, so that it can be asked for again.
 */
export function wantAfter(act: ReplayAct, want: ReplayWant, progress: ReplayProgress | undefined): ReplayWant | null {
  const isDone = progress !== undefined && isEnded(progress);
  // What was asked before counts, whether or not the runner has come to it.
  const state = isDone ? progress.state : want;
  if (FROM[act].includes(state)) return TO[act];
  return want === TO[act] && (!isDone || state === want) ? want : null;
}

/** RP2: the progress of who begins, or goes on where another is or was. */
export function claimProgress(held: ReplayProgress | undefined, nowMs: number): ReplayProgress {
  if (held === undefined) {
    const begun = { next: [], sent: 0, leftOut: NONE_LEFT_OUT, takeovers: 0, beganAtMs: nowMs, endedAtMs: null };
    return { generation: 1, state: "running", ...begun };
  }
  const takeovers = held.takeovers + (held.state === "running" ? 1 : 0);
  return { ...held, generation: held.generation + 1, state: "running", takeovers };
}

/** RP2: whether who claimed this may write over what stands. */
export function canWrite(held: ReplayProgress | undefined, mine: ReplayProgress): boolean {
  return held !== undefined && held.generation === mine.generation && !isEnded(held);
}

/** RP3: how many letters may be sent before the progress is written again. */
export function roomOf(progress: ReplayProgress, written: ReplayProgress, batch = REPLAY_BATCH): number {
  return batch - (progress.sent - written.sent);
}

/** What was done of one partition: everything below `next` is passed. */
export interface ReplayStep {
  readonly partition: number;
  readonly next: number;
  readonly sent: number;
  readonly leftOut: readonly LeftOutCause[];
}

/** RP4. */
export function advanceProgress(progress: ReplayProgress, step: ReplayStep): ReplayProgress {
  const { partition, next } = step;
  const others = progress.next.filter((each) => each.partition !== partition);
  return {
    ...progress,
    next: [...others, { partition, offset: next }],
    sent: progress.sent + step.sent,
    leftOut: addLeftOut(progress.leftOut, step.leftOut),
  };
}

export function addLeftOut(counts: LeftOutCounts, causes: Iterable<LeftOutCause>): LeftOutCounts {
  const sum = { ...counts };
  for (const cause of causes) sum[cause] += 1;
  return sum;
}

/** Where a partition is gone on with; `start` when nothing of it was passed. */
export function nextOffset(progress: ReplayProgress, { partition, offset: start }: PartitionOffset): number {
  return progress.next.find((each) => each.partition === partition)?.offset ?? start;
}
