/**
 * Changes of plans as they are read. Each stands for the plan as it is by the time that it is looked at, so of several
 * changes of one plan only the newest says anything.
 *
 * Owns: the changes, and where the newest of each plan stands.
 */
import { RecentEntries } from "../recent-entries.ts";

/** About what a change takes, in bytes. */
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

  /** A record of the plan, or of how far it is, was read. */
  note(id: string, offset: number): void {
    this.#newest.set(id, offset);
    this.recent.add(0, offset + 1, [{ offset, place: 0, value: { id }, bytes: CHANGE_BYTES }]);
  }

  isNewest({ id }: PlanChange, offset: number): boolean {
    return this.#newest.get(id) === offset;
  }
}
