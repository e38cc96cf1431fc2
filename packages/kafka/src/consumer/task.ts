/** A record in a window, as the task that the handler gets. */
import type { LaneMember } from "@posthaste/core/window/lanes";
import type { TrackedOffset } from "@posthaste/core/window/offset-tracker";
import type { IncomingRecord } from "../wire/incoming-record.ts";
import type { RecordOwner } from "./record-owners.ts";
import type { PartitionWindow, Task } from "./windowed-consumer.ts";

/** The window of a task, to which the task reports its end. */
export interface TaskOwner<T, F> extends PartitionWindow {
  finishTask(task: WindowTask<T, F>): void;
}

export class WindowTask<T, F> implements Task<T>, LaneMember<WindowTask<T, F>> {
  readonly item: T;
  readonly record: IncomingRecord;
  readonly window: TaskOwner<T, F>;
  readonly tracked: TrackedOffset<F>;
  readonly lane: string | null;
  readonly bytes: number;
  readonly owner: RecordOwner | undefined;
  nextInLane: WindowTask<T, F> | undefined = undefined;
  nextInBucket: WindowTask<T, F> | undefined = undefined;

  constructor(
    window: TaskOwner<T, F>,
    item: T,
    record: IncomingRecord,
    tracked: TrackedOffset<F>,
    lane: string | null,
    owner: RecordOwner | undefined,
  ) {
    this.window = window;
    this.item = item;
    this.record = record;
    this.tracked = tracked;
    this.lane = lane;
    this.owner = owner;
    this.bytes = sizeOf(record);
  }

  finish(): void {
    if (!this.tracked.finished) this.window.finishTask(this);
  }
}

function sizeOf({ key, value }: IncomingRecord): number {
  return (key?.length ?? 0) + (value?.length ?? 0);
}
