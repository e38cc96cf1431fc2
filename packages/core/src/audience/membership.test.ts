import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AudienceKind } from "./audience.ts";
import {
  changeOf,
  changeTimeMs,
  type Fence,
  type HeldMember,
  holdFence,
  holdMember,
  type MembershipRecord,
} from "./membership.ts";

const USERS = ["ada", "bob", "cyd"] as const;
const PARTITIONS = 2;
const partitionOf = (userId: string): number => userId.charCodeAt(0) % PARTITIONS;

type Values = Readonly<Record<string, string>>;

/** A reader of the topic: the rows that `MembershipTable` keeps in a database, over the same rules. */
class Reader {
  readonly members = new Map<string, HeldMember>();
  readonly #fences: (Fence | undefined)[] = [];

  take(record: MembershipRecord, partition: number): void {
    const fence = this.#fences[partition];
    const { userId, valueJson } = record;
    if (userId === null || valueJson === null) {
      const raised = holdFence(record, fence);
      this.#fences[partition] = raised;
      for (const [user, held] of this.members) {
        if (held.partition === partition && held.revision < raised.bornRevision) this.members.delete(user);
      }
      return;
    }
    const held = holdMember({ ...record, valueJson }, partition, { held: this.members.get(userId), fence });
    if (held !== undefined) this.members.set(userId, held);
  }
}

/**
 * The topic, its emitter, and the syncs that were begun and not ended: each goes on whenever it is told to, however
 * late.
 */
class World {
  readonly #kind: AudienceKind;
  readonly #log: MembershipRecord[][] = Array.from({ length: PARTITIONS }, () => []);
  readonly #syncs: MembershipRecord[][] = [];
  readonly #emitted: MembershipRecord[] = [];
  readonly #committed = Array.from({ length: PARTITIONS }, () => 0);
  #nowMs = 1000;
  #revision = 0;

  constructor(kind: AudienceKind) {
    this.#kind = kind;
  }

  pass(ms: number): void {
    this.#nowMs += ms;
  }

  /**
   * Takes the lease, from a sync that is paused too, sets its fences, reads, and has something to write; null for the
   * repair alone.
   */
  begin(wanted: Values | null, clockOffMs: number): number {
    this.#revision += 1;
    const about = {
      audienceId: "a",
      kind: this.#kind,
      sourceId: "s",
      trait: "t",
      revision: this.#revision,
      bornRevision: 1,
    };
    for (const partition of this.#log) partition.push({ ...about, userId: null, valueJson: null, changedAtMs: 0 });
    const { members } = this.#read();
    const changes = USERS.flatMap((userId): MembershipRecord[] => {
      const held = members.get(userId);
      // A stale user is written again, with the wanted value, or else with the held one.
      const said = wanted?.[userId] ?? (held?.isStale ? held.valueJson : undefined);
      const valueJson = said === undefined ? null : changeOf(this.#kind, said, held);
      const changedAtMs = changeTimeMs(this.#nowMs + clockOffMs, held);
      return valueJson === null ? [] : [{ ...about, userId, valueJson, changedAtMs }];
    });
    this.#syncs.push(changes);
    return this.#syncs.length - 1;
  }

  /**
   * Writes the next record of a sync, or once more the one it wrote last (a batch whose answer was lost). False when it
   * is through.
   */
  write(sync: number, isRepeated = false): boolean {
    const changes = this.#syncs[sync];
    const record = changes?.[0];
    if (changes === undefined || record === undefined) return false;
    if (!isRepeated) changes.shift();
    this.#log[partitionOf(record.userId ?? "")]?.push(record);
    return true;
  }

  get begun(): number {
    return this.#syncs.length;
  }

  /**
   * Emits the waiting records. An emitter that is killed leaves off after `sent` records of each partition and has
   * committed `committed` of those, so that the next one emits the others again.
   */
  emit(killed: { readonly sent: number; readonly committed: number } | null): void {
    for (const [partition, records] of this.#log.entries()) {
      const from = this.#committed[partition] ?? 0;
      const sent = Math.min(records.length - from, killed?.sent ?? Number.POSITIVE_INFINITY);
      this.#emitted.push(...records.slice(from, from + sent).filter(({ userId }) => userId !== null));
      this.#committed[partition] = from + Math.min(sent, killed?.committed ?? sent);
    }
  }

  get hasStale(): boolean {
    return [...this.#read().members.values()].some(({ isStale }) => isStale);
  }

  held(userId: string): string | undefined {
    return this.#read().members.get(userId)?.valueJson;
  }

  /** Every value that an identify of the user's newest time had. */
  newest(userId: string): readonly (string | null)[] {
    const own = this.#emitted.filter((record) => record.userId === userId);
    const atMs = Math.max(...own.map(({ changedAtMs }) => changedAtMs));
    return [...new Set(own.filter(({ changedAtMs }) => changedAtMs === atMs).map(({ valueJson }) => valueJson))];
  }

  #read(): Reader {
    const reader = new Reader();
    // The partitions are read side by side, so their order is no order.
    for (const [partition, records] of [...this.#log.entries()].reverse()) {
      for (const record of records) reader.take(record, partition);
    }
    return reader;
  }
}

/** Incidents that may happen at any time, also while a sync runs. */
type Incident =
  | { readonly what: "write" | "repeat"; readonly sync: number }
  | { readonly what: "pass"; readonly ms: number }
  | { readonly what: "emit"; readonly killed: { readonly sent: number; readonly committed: number } | null };
type Begin = { readonly what: "begin"; readonly wanted: Values | null; readonly offMs: number };

const clockOffMs = fc.integer({ min: -50, max: 50 });
const incident: fc.Arbitrary<Incident> = fc.oneof(
  fc.record({ what: fc.constantFrom("write" as const, "repeat" as const), sync: fc.nat() }),
  fc.record({ what: fc.constant("pass" as const), ms: fc.integer({ min: 0, max: 20 }) }),
  fc.record({
    what: fc.constant("emit" as const),
    killed: fc.option(fc.record({ sent: fc.nat({ max: 6 }), committed: fc.nat({ max: 6 }) })),
  }),
);

function happen(world: World, event: Incident | Begin): void {
  switch (event.what) {
    case "begin":
      world.begin(event.wanted, event.offMs);
      return;
    case "write":
    case "repeat":
      if (world.begun > 0) world.write(event.sync % world.begun, event.what === "repeat");
      return;
    case "pass":
      world.pass(event.ms);
      return;
    case "emit":
      world.emit(event.killed);
  }
}

describe("the newest identify of each user", () => {
  it.each([
    ["audience", fc.constantFrom("true", "false")],
    ["computed_trait", fc.constantFrom("1", "2", '"x"')],
  ] as const)(
    "U1 to U3: of an %s says what the last whole sync said, whoever was killed, paused or late",
    (kind, value) => {
      const wanted = fc.record({ ada: value, bob: value, cyd: value });
      const begin = fc.record({ what: fc.constant("begin" as const), wanted: fc.option(wanted), offMs: clockOffMs });
      const before = fc.array(fc.oneof(begin, incident), { maxLength: 30 });
      fc.assert(
        fc.property(
          before,
          wanted,
          clockOffMs,
          fc.array(incident),
          fc.boolean(),
          (earlier, last, offMs, meanwhile, doesLateWrite) => {
            const world = new World(kind);
            for (const event of earlier) happen(world, event);
            const sync = world.begin(last, offMs);
            for (const event of meanwhile) {
              happen(world, event);
              world.write(sync);
            }
            while (world.write(sync));
            // A paused writer wakes up, or never does.
            for (let other = 0; doesLateWrite && other < sync; other += 1) while (world.write(other));
            for (let repairs = 0; world.hasStale; repairs += 1) {
              expect(repairs, "repairs that leave something to repair").toBeLessThan(10);
              const repair = world.begin(null, offMs);
              while (world.write(repair));
            }
            world.emit(null);
            for (const userId of USERS) {
              const newest = world.newest(userId);
              // Of a user who was never in an audience nothing may ever have been reported.
              if (newest.length === 0) expect([kind, last[userId]]).toEqual(["audience", "false"]);
              else expect(newest, userId).toEqual([last[userId]]);
              expect(world.held(userId) ?? "false", userId).toBe(last[userId]);
            }
          },
        ),
        { numRuns: process.env["POSTHASTE_LONG"] === "true" ? 3000 : 600 },
      );
    },
  );
});

describe("holdMember", () => {
  const record = { kind: "audience", revision: 5, changedAtMs: 100, valueJson: "true" } as const;
  const held = holdMember(record, 0, { held: undefined, fence: undefined });

  it("U4: takes nothing of an audience that was removed", () => {
    const fence = { revision: 9, bornRevision: 6 };
    expect(holdMember(record, 0, { held: undefined, fence })).toBeUndefined();
    expect(
      holdMember({ ...record, revision: 6 }, 0, { held: undefined, fence: { revision: 6, bornRevision: 6 } }),
    ).toMatchObject({
      isStale: false,
    });
  });

  it("holds what stands in the partition of before the topic was grown for older, and for nothing to mend", () => {
    expect(holdMember({ ...record, revision: 4, valueJson: "false" }, 1, { held, fence: undefined })).toEqual(held);
    expect(holdMember({ ...record, revision: 4, valueJson: "false" }, 0, { held, fence: undefined })).toMatchObject({
      valueJson: "true",
      isStale: true,
    });
  });

  it("says of a record that came twice what it said before", () => {
    expect(holdMember(record, 0, { held, fence: undefined })).toEqual(held);
  });
});

describe("holdFence", () => {
  it("U2, U4: is raised by a later sync and a later audience, and lowered by no late write", () => {
    const held = { revision: 9, bornRevision: 6 };
    expect(holdFence({ revision: 5, bornRevision: 3 }, held)).toEqual(held);
    expect(holdFence({ revision: 12, bornRevision: 11 }, held)).toEqual({ revision: 12, bornRevision: 11 });
    expect(holdFence(held, undefined)).toEqual(held);
  });
});
