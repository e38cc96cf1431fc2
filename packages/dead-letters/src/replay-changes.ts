/**
 * The changes of plans, as they are read. A change shows the plan as it is at the time of the look. Only the newest of
 * several changes of one plan counts.
 *
 * Owns: the changes, and the offset of the newest of each plan.
 */
import { RecentEntries } from "@posthaste/kafka/log/recent-entries";

/** The approximate size of a change in memory, in bytes. */
const CHANGE_BYTES = 200;

export interface PlanChange {
  readonly id: string;
}

export class ReplayChanges {
  readonly recent = new RecentEntries<PlanChange>();
  readonly #newest = new Map<string, number>();

  constructor() {
    this.recent.begin(0, 0);
  }

  /** Notes that a record of the plan, or of its progress, was read. */
  note(id: string, offset: number): void {
    this.#newest.set(id, offset);
    this.recent.add(0, offset + 1, [{ offset, place: 0, value: { id }, bytes: CHANGE_BYTES }]);
  }

  isNewest({ id }: PlanChange, offset: number): boolean {
    return this.#newest.get(id) === offset;
  }
}
