/**
 * Watches the finished and the committed offsets of every group.
 *
 * Owns: which records were ever finished, and of each window which it finished.
 * CW0  Only gained partitions are run, and each once in one window.
 * CW1  A commit says of nothing that it is finished which is not: that would be lost.
 * CW2  A commit names as finished every record that its window finished, and every record that the commit at its
 *      beginning called finished: a record that it leaves out is repeated for nothing.
 * CW3  A record that the last commit called finished when a partition was gained is not run again.
 * CW4  A gained partition is committed soon (C6).
 * CW5  The committed offset of a partition never falls.
 * CW6  A finished record is committed soon, where nothing stands in the way.
 * CW7  While a process joins it starts nothing (C4).
 */
import { decodeCommitMetadata } from "@posthaste/core/window/commit-metadata";
import type { PartitionWindow, Task } from "@posthaste/kafka/consumer/windowed-consumer";
import type { Committed, Place } from "./group.ts";
import type { CommitAttempt } from "./member-requests.ts";
import type { LogRecord, ModelLog } from "./model-log.ts";
import type { ModelProcess } from "./model-process.ts";

export interface CommitWitnessOptions {
  readonly log: ModelLog;
  /** On the world's clock. */
  readonly nowMs: () => number;
  readonly onViolation: (what: string) => void;
  /** Records that are finished without being run. */
  readonly isFinishedUnrun: (groupId: string, record: LogRecord) => boolean;
}

/** The coverage of a commit. */
interface Coverage {
  readonly offset: number;
  /** Offsets above it that are covered. */
  readonly above: readonly number[];
  readonly covers: (offset: number) => boolean;
}

/** A partition as one process has it in one group. */
interface Holding {
  covered: Coverage;
  gainedMs: number;
  isCommitted: boolean;
  window: PartitionWindow | null;
  /** By offset, and when. */
  readonly finished: Map<number, number>;
  readonly started: Set<number>;
}

export class CommitWitness {
  readonly #options: CommitWitnessOptions;
  readonly #finished = new Map<string, Set<number>>();
  /** By process, group and partition. */
  readonly #holdings = new Map<string, Holding>();
  readonly #accepted = new Map<string, number>();

  constructor(options: CommitWitnessOptions) {
    this.#options = options;
  }

  /** A process learnt where a partition begins. */
  gained(processId: string, groupId: string, place: Place, committed: Committed | undefined, nowMs: number): void {
    this.#holdings.set(`${processId} ${keyOf(groupId, place)}`, {
      covered: coverageOf(committed?.offset ?? 0, committed?.metadata ?? null),
      gainedMs: nowMs,
      isCommitted: false,
      window: null,
      finished: new Map(),
      started: new Set(),
    });
  }

  /** A task was started; `finish` of it is watched from here on. */
  started<T>(
    { id: processId, connection }: Pick<ModelProcess, "id" | "connection">,
    groupId: string,
    task: Task<T>,
    onFinish: () => void,
  ): void {
    const { record, window } = task;
    const holding = this.#holdings.get(`${processId} ${keyOf(groupId, record)}`);
    const where = `${processId}: ${groupId} ${nameOf(record)}`;
    if (holding === undefined) {
      this.#options.onViolation(`CW0 ${where} was run by a process that never gained it`);
      return;
    }
    if (holding.window !== window) {
      holding.window = window;
      holding.finished.clear();
      holding.started.clear();
    }
    if (connection.isJoining(groupId)) this.#options.onViolation(`CW7 ${where} was started during a join`);
    if (holding.started.has(record.offset)) this.#options.onViolation(`CW0 ${where} was run twice in one window`);
    holding.started.add(record.offset);
    if (holding.covered.covers(record.offset)) {
      this.#options.onViolation(`CW3 ${where} was run again though a commit called it finished`);
    }
    const finish = task.finish.bind(task);
    task.finish = () => {
      if (!window.isRevoked && !holding.finished.has(record.offset)) {
        onFinish();
        holding.finished.set(record.offset, this.#options.nowMs());
        this.#finishedOf(keyOf(groupId, record)).add(record.offset);
      }
      finish();
    };
  }

  /** A process sends a commit. */
  committing(processId: string, { groupId, points }: CommitAttempt): void {
    for (const point of points) {
      const key = keyOf(groupId, point);
      const holding = this.#holdings.get(`${processId} ${key}`);
      const coverage = coverageOf(point.offset, point.metadata);
      this.#checkSafe(groupId, point, coverage);
      if (holding === undefined) continue;
      holding.isCommitted = true;
      if (holding.window?.isRevoked !== false) continue;
      for (const offset of [...holding.covered.above, ...holding.finished.keys()]) {
        if (coverage.covers(offset)) continue;
        this.#options.onViolation(
          `CW2 ${processId}: a commit of ${nameOf(point)} leaves out ${offset}, which is finished`,
        );
      }
    }
  }

  accepted(groupId: string, { topic, partition, offset }: Committed): void {
    const key = keyOf(groupId, { topic, partition });
    const before = this.#accepted.get(key) ?? 0;
    if (offset < before) this.#options.onViolation(`CW5 the commit of ${key} fell from ${before} to ${offset}`);
    this.#accepted.set(key, offset);
  }

  /** CW4; `isOwned`: the process has it still, and nothing stood in the way of its commits. */
  checkGained(processId: string, groupId: string, place: Place, gainedBeforeMs: number): void {
    const holding = this.#holdings.get(`${processId} ${keyOf(groupId, place)}`);
    if (holding === undefined || holding.isCommitted || holding.gainedMs > gainedBeforeMs) return;
    this.#options.onViolation(`CW4 ${processId} gained ${keyOf(groupId, place)} and committed nothing`);
    holding.isCommitted = true;
  }

  /** CW6; asked like `checkGained`. `committed`: the group's commits. */
  checkCommitted(
    processId: string,
    groupId: string,
    place: Place,
    committed: Committed | undefined,
    beforeMs: number,
  ): void {
    const holding = this.#holdings.get(`${processId} ${keyOf(groupId, place)}`);
    if (holding === undefined || holding.window?.isRevoked !== false) return;
    const { covers } = coverageOf(committed?.offset ?? 0, committed?.metadata ?? null);
    for (const [offset, atMs] of holding.finished) {
      if (atMs > beforeMs || covers(offset)) continue;
      this.#options.onViolation(
        `CW6 ${processId} finished ${keyOf(groupId, place)}/${offset} and has not committed it`,
      );
      return;
    }
  }

  /** CW1. */
  #checkSafe(groupId: string, { topic, partition }: Place, { covers }: Coverage): void {
    const key = keyOf(groupId, { topic, partition });
    const finished = this.#finishedOf(key);
    for (const record of this.#options.log.partition(topic, partition).records) {
      if (!covers(record.offset) || finished.has(record.offset)) continue;
      if (this.#options.isFinishedUnrun(groupId, record)) finished.add(record.offset);
      else {
        this.#options.onViolation(`CW1 a commit of ${key} calls ${record.offset} finished, which is not: it is lost`);
        finished.add(record.offset);
      }
    }
  }

  #finishedOf(key: string): Set<number> {
    let finished = this.#finished.get(key);
    if (finished === undefined) {
      finished = new Set();
      this.#finished.set(key, finished);
    }
    return finished;
  }
}

function coverageOf(offset: number, metadata: string | null): Coverage {
  const { finishedRuns } = decodeCommitMetadata(offset, metadata);
  const above = finishedRuns.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, index) => from + index));
  return { offset, above, covers: (at) => at < offset || finishedRuns.some(({ from, to }) => at >= from && at < to) };
}

function keyOf(groupId: string, { topic, partition }: Place): string {
  return `${groupId} ${topic}/${partition}`;
}

export function nameOf({ topic, partition, offset }: Place & { readonly offset: number }): string {
  return `${topic}/${partition}/${offset}`;
}
