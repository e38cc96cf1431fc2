/**
 * The newest attempts of destinations: what the attempt log knows of a destination that no delivery process reports.
 *
 * Owns: its statements over the projection of attempts. Each reads one entry along an index (JN4 of projection.ts).
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ProjectionOptions } from "./projection.ts";
import { newestFirst, type ProjectionEntry } from "./projection-entry.ts";
import { toEntry } from "./projection-sql.ts";

/** Each is null where the projection holds none. */
export interface LastAttempts {
  readonly destinationId: string;
  readonly delivered: ProjectionEntry | null;
  readonly failed: ProjectionEntry | null;
  /** The first that delivered after the newest that failed; null where none failed. */
  readonly recovered: ProjectionEntry | null;
  /** The first that failed after the newest that delivered, or of all where none delivered. */
  readonly firstFailed: ProjectionEntry | null;
}

const DELIVERED = ["delivered"];
const FAILED = ["retryable", "permanent"];

export class LastAttemptsQuery {
  readonly #newest: StatementSync;
  readonly #first: StatementSync;
  readonly #horizonMs: () => number;

  constructor(database: DatabaseSync, { name, nowMs, keepMs }: Pick<ProjectionOptions, "name" | "nowMs" | "keepMs">) {
    const of = `SELECT * FROM ${name} INDEXED BY ${name}_by_destination WHERE destination_id = ? AND kind = ?`;
    this.#newest = database.prepare(`${of} AND time >= ? ORDER BY time DESC LIMIT 1`);
    this.#first = database.prepare(`${of} AND time > ? ORDER BY time LIMIT 1`);
    this.#horizonMs = () => nowMs() - keepMs;
  }

  of(destinationIds: readonly string[]): readonly LastAttempts[] {
    return destinationIds.map((destinationId) => {
      const horizonMs = this.#horizonMs();
      const newest = (kinds: readonly string[]) =>
        this.#found(this.#newest, { destinationId, kinds, fromMs: horizonMs });
      const first = (kinds: readonly string[], fromMs: number) =>
        this.#found(this.#first, { destinationId, kinds, fromMs }).at(-1) ?? null;
      const [delivered = null, failed = null] = [newest(DELIVERED)[0], newest(FAILED)[0]];
      return {
        ...{ destinationId, delivered, failed },
        recovered: failed === null ? null : first(DELIVERED, failed.timeMs),
        firstFailed: first(FAILED, delivered?.timeMs ?? horizonMs),
      };
    });
  }

  /** One entry of each kind at the most, newest first. */
  #found(
    statement: StatementSync,
    { destinationId, kinds, fromMs }: { destinationId: string; kinds: readonly string[]; fromMs: number },
  ): readonly ProjectionEntry[] {
    const rows = kinds.map((kind) => statement.get(destinationId, kind, fromMs));
    return rows.flatMap((row) => (row === undefined ? [] : [toEntry(row)])).sort(newestFirst);
  }
}
