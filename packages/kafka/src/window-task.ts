/** What a record is while it stands in a window: the handler's task, and the trace that stays when it is finished. */
import type { LaneMember } from "@posthaste/core/lanes";
import type { Tracked } from "@posthaste/core/offset-tracker";
import type { IncomingRecord } from "./incoming-record.ts";
import type { PartitionWindow, Task } from "./window.ts";

/** Kept until the committable offset has passed the record: all that is small, and nothing of its content. */
export interface Trace<F> extends Tracked {
  readonly timestampMs: number;
  /** What the fold is to note of it; undefined without a fold. */
  readonly folded: F | undefined;
}

/** Whom records' room is counted for. */
export interface Holder {
  readonly name: string;
  /** Of the window's records, those that are its own. */
  records: number;
}

/** A task tells its window that it is finished. */
export interface TaskOwner<T, F> extends PartitionWindow {
  finishTask(task: WindowTask<T, F>): void;
}

export class WindowTask<T, F> implements Task<T>, LaneMember<WindowTask<T, F>> {
  readonly item: T;
  readonly record: IncomingRecord;
  readonly window: TaskOwner<T, F>;
  readonly trace: Trace<F>;
  readonly lane: string | null;
  readonly bytes: number;
  readonly holder: Holder | undefined;
  nextInLane: WindowTask<T, F> | undefined = undefined;
  nextInBucket: WindowTask<T, F> | undefined = undefined;

  constructor(
    window: TaskOwner<T, F>,
    item: T,
    record: IncomingRecord,
    trace: Trace<F>,
    lane: string | null,
    holder: Holder | undefined,
  ) {
    this.window = window;
    this.item = item;
    this.record = record;
    this.trace = trace;
    this.lane = lane;
    this.holder = holder;
    this.bytes = sizeOf(record);
  }

  finish(): void {
    if (!this.trace.finished) this.window.finishTask(this);
  }
}

function sizeOf({ key, value }: IncomingRecord): number {
  return (key?.length ?? 0) + (value?.length ?? 0);
}
