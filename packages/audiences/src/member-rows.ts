/**
 * The rows of the membership's table: one for each user of an audience, one for each fence.
 *
 * Owns: how many users each audience has, for the audiences that were asked for. Its caller owns the database and the
 * transactions.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type HeldMember, holdFence, holdMember } from "@posthaste/core/audience/membership";
import type { MembershipEntry } from "./membership-entry.ts";

/** Statements of a database, each prepared once. */
export class Statements {
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  of(sql: string): StatementSync {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }

  /** Forgets the statements that match, for a table that is dropped. */
  forget(pattern: RegExp): void {
    for (const sql of this.#prepared.keys()) if (pattern.test(sql)) this.#prepared.delete(sql);
  }
}

/** How many users of an audience have a row, and how many of these the value false. */
export interface Held {
  readonly users: number;
  readonly falses: number;
}

type Counts = { -readonly [Key in keyof Held]: Held[Key] };

export class MemberRows {
  readonly #statements: Statements;
  readonly #counts = new Map<number, Counts>();

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** Forgets the counts, after all rows were deleted. */
  forget(): void {
    this.#counts.clear();
  }

  /** Applies a record to the rows. */
  apply(entry: MembershipEntry, partition: number): void {
    const audience = this.numberOf(entry.audienceId);
    if (entry.what === "fence") {
      this.#raiseFence(audience, partition, entry);
      return;
    }
    const held = this.member(audience, entry.userId);
    if (entry.what === "removed") {
      if (held !== undefined && held.revision <= entry.revision) this.#forget(audience, entry.userId, held);
      return;
    }
    const next = holdMember(entry, partition, { held, fence: this.#fence(audience, partition) });
    if (next === undefined || next === held) return;
    this.#statements
      .of("INSERT OR REPLACE INTO members VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
      .run(
        ...[audience, entry.userId, next.valueJson, next.revision],
        ...[next.changedAtMs, next.newestMs, next.partition, next.isStale ? 1 : 0],
      );
    this.#recount(audience, held?.valueJson, next.valueJson);
  }

  #raiseFence(audience: number, partition: number, entry: { revision: number; bornRevision: number }): void {
    const { revision, bornRevision } = holdFence(entry, this.#fence(audience, partition));
    this.#statements
      .of("INSERT OR REPLACE INTO fences VALUES (?, ?, ?, ?)")
      .run(audience, partition, revision, bornRevision);
    // U4.
    const dropped = this.#statements.of("DELETE FROM members WHERE audience = ? AND partition = ? AND revision < ?");
    if (Number(dropped.run(audience, partition, bornRevision).changes) > 0) this.#counts.delete(audience);
  }

  #forget(audience: number, userId: string, held: HeldMember): void {
    this.#statements.of("DELETE FROM members WHERE audience = ? AND user = ?").run(audience, userId);
    this.#recount(audience, held.valueJson, undefined);
  }

  #fence(audience: number, partition: number): { revision: number; bornRevision: number } | undefined {
    const row = this.#statements
      .of("SELECT revision, born FROM fences WHERE audience = ? AND partition = ?")
      .get(audience, partition);
    return row === undefined ? undefined : { revision: Number(row["revision"]), bornRevision: Number(row["born"]) };
  }

  member(audience: number, userId: string): HeldMember | undefined {
    const row = this.#statements.of("SELECT * FROM members WHERE audience = ? AND user = ?").get(audience, userId);
    if (row === undefined) return undefined;
    return {
      valueJson: String(row["value"]),
      revision: Number(row["revision"]),
      changedAtMs: Number(row["changed"]),
      newestMs: Number(row["newest"]),
      partition: Number(row["partition"]),
      isStale: row["stale"] === 1,
    };
  }

  /** The counts of an audience, which are counted at the first call and kept up to date from then on. */
  held(audience: number): Held {
    const known = this.#counts.get(audience);
    if (known !== undefined) return known;
    const row = this.#statements
      .of("SELECT count(*) AS users, count(*) FILTER (WHERE value = 'false') AS falses FROM members WHERE audience = ?")
      .get(audience);
    const counted = { users: Number(row?.["users"]), falses: Number(row?.["falses"]) };
    this.#counts.set(audience, counted);
    return counted;
  }

  /** Updates the counts of an audience, where they are known. */
  #recount(audience: number, before: string | undefined, after: string | undefined): void {
    const held = this.#counts.get(audience);
    if (held === undefined) return;
    held.users += (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
    held.falses += (after === "false" ? 1 : 0) - (before === "false" ? 1 : 0);
  }

  /** The number that stands for an audience in its rows, of which there may be a million. */
  numberOf(audienceId: string): number {
    const found = this.#statements.of("SELECT id FROM audiences WHERE name = ?").get(audienceId);
    if (found !== undefined) return Number(found["id"]);
    return Number(this.#statements.of("INSERT INTO audiences (name) VALUES (?)").run(audienceId).lastInsertRowid);
  }
}
