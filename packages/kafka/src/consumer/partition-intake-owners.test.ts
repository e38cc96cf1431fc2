/** A partition whose owners change at random, over a log with gaps and repeats: invariants of all owners together. */
import {
  condenseOrigins,
  decodeOriginCheckpoint,
  OriginCheckpoint,
  type OriginOfDelivery,
} from "@posthaste/core/delivery/origin";
import fc from "fast-check";
import type { KafkaMessage } from "kafkajs";
import { describe, expect, it } from "vitest";
import type { CommitPoint } from "./group-session.ts";
import { PartitionIntake } from "./partition-intake.ts";
import { WorkingSetShare } from "./window-fill.ts";
import type { Task, WindowedConsumerOptions } from "./windowed-consumer.ts";

interface Item extends OriginOfDelivery {
  readonly key: string;
}

/** A log with gaps, in which a writer that was replaced wrote some of its origins again. */
class FakeLog {
  readonly records: { readonly offset: number; readonly origin: number; readonly key: string }[] = [];
  #greatest = -1;
  #next = 0;

  get end(): number {
    return (this.records.at(-1)?.offset ?? -1) + 1;
  }

  /** `back`: the writer begins again so many origins earlier. */
  append(back: number, gap: number): void {
    if (back > 0) this.#next = Math.max(0, this.#greatest - back);
    const origin = this.#next;
    this.records.push({ offset: this.end + gap, origin, key: `k${origin % 4}` });
    this.#greatest = Math.max(this.#greatest, origin);
    this.#next = origin + 1;
  }

  from(offset: number, count: number): KafkaMessage[] {
    return this.records
      .filter((record) => record.offset >= offset)
      .slice(0, count)
      .map((record) => ({
        offset: String(record.offset),
        timestamp: "0",
        key: Buffer.from(record.key),
        value: Buffer.from(String(record.origin)),
        attributes: 0,
        headers: {},
      }));
  }
}

/** One owner after another of a partition of the log, as kafkajs would feed them, and their effects. */
class Simulation {
  readonly log = new FakeLog();
  /** Offsets that were run to their end, by every owner. */
  readonly done: number[] = [];
  readonly failures: Error[] = [];
  repeatsAllowed = 0;
  #committed: { readonly offset: number; readonly metadata: string } = { offset: 0, metadata: "" };
  #finishedSinceCommit = 0;
  #stale: CommitPoint | null = null;
  /** The committer sleeps until it is told that something changed (K4 of committer.ts). */
  #isNotifiedOfChange = false;
  #owner = this.#createOwner();
  readonly #zombies: { readonly runner: PartitionIntake<Item, OriginOfDelivery>; readonly running: Task<Item>[] }[] =
    [];

  #createOwner() {
    const fetch = { paused: true, soughtAt: null as number | null, at: 0 };
    const running: Task<Item>[] = [];
    const byKey = new Map<string, number>();
    const options: WindowedConsumerOptions<Item, OriginOfDelivery> = {
      groupId: "g",
      topics: ["t"],
      window: { maxRecords: 12, maxBytes: 1_000_000 },
      take: ({ key, value }) => ({
        key: String(key),
        originIncarnation: 1,
        originPartition: 0,
        originOffset: Number(value),
        destinationId: "d",
      }),
      laneOf: ({ key }) => key,
      run: (task) => {
        const before = byKey.get(task.item.key) ?? -1;
        if (running.some(({ item }) => item.key === task.item.key))
          this.failures.push(new Error("two of one lane run"));
        if (task.record.offset <= before) this.failures.push(new Error("a lane ran out of order"));
        byKey.set(task.item.key, task.record.offset);
        running.push(task);
      },
      checkpoint: {
        pick: (item) => item,
        condense: condenseOrigins,
        open: (text) => (text === null ? new OriginCheckpoint() : decodeOriginCheckpoint(text)),
      },
      onFailure: (reason) => this.failures.push(reason),
    };
    const runner = new PartitionIntake(
      { topic: "t", partition: 0 },
      options,
      {
        pause: () => {
          fetch.paused = true;
        },
        resume: () => {
          fetch.paused = false;
        },
        seek: (offset) => {
          fetch.soughtAt = offset;
        },
      },
      {
        clock: { nowMs: () => 0, monotonicMs: () => 0 },
        share: new WorkingSetShare(),
        onFailure: (reason) => this.failures.push(reason),
        onIdle: () => undefined,
        onChanged: () => {
          this.#isNotifiedOfChange = true;
        },
      },
    );
    runner.begin(this.#committed.offset, this.#committed.metadata);
    return { runner, fetch, running };
  }

  fetch(count: number): void {
    const { runner, fetch } = this.#owner;
    if (fetch.paused) return;
    if (fetch.soughtAt !== null) fetch.at = fetch.soughtAt;
    fetch.soughtAt = null;
    this.#deliver(fetch.at, count);
    if (runner.window.records > runner.window.maxRecords)
      this.failures.push(new Error("the window took in more than its limits allow"));
  }

  /** A fetch that was asked for under an older assignment, from anywhere. */
  staleFetch(from: number, count: number): void {
    const { fetch } = this.#owner;
    if (!fetch.paused && fetch.soughtAt === null) this.#deliver(from, count);
  }

  #deliver(from: number, count: number): void {
    const { runner, fetch } = this.#owner;
    const messages = this.log.from(from, count);
    const last = messages.at(-1);
    if (last === undefined) return;
    const batch = { messages, fetchedFrom: from, lastOffset: Number(last.offset), endOffset: this.log.end };
    if (runner.accept(batch)) fetch.at = Math.max(fetch.at, batch.lastOffset + 1);
  }

  finish(pick: number): void {
    const { running } = this.#owner;
    if (running.length === 0) return;
    const [task] = running.splice(pick % running.length, 1);
    if (task === undefined) return;
    this.done.push(task.record.offset);
    this.#finishedSinceCommit += 1;
    task.finish();
  }

  commit(accepted: boolean): void {
    const { runner } = this.#owner;
    const point = runner.commitPoint(false);
    if (point === null) return;
    if (!this.#isNotifiedOfChange) this.failures.push(new Error("something is to be committed and nobody was told"));
    this.#isNotifiedOfChange = false;
    if (accepted) {
      this.#committed = point;
      this.#finishedSinceCommit = 0;
    } else {
      runner.commitFailed();
      this.#stale = point;
    }
  }

  /** A commit of the past lands after all; C6: the owner commits its own mark soon. */
  staleCommit(): void {
    if (this.#stale === null) return;
    this.#committed = this.#stale;
    this.#stale = null;
    this.#owner.runner.commitFailed();
    this.commit(true);
  }

  /** The group was joined again and the partition kept. */
  keep(): void {
    this.#owner.runner.freeze();
    this.#owner.runner.keep();
  }

  /** The owner is gone, or does not know yet that it is: its running tasks may have their effect all the same. */
  crash(): void {
    const { runner, running } = this.#owner;
    this.repeatsAllowed += running.length + this.#finishedSinceCommit;
    runner.revoke();
    this.#zombies.push(this.#owner);
    this.#finishedSinceCommit = 0;
    this.#stale = null;
    this.#owner = this.#createOwner();
  }

  /** A former owner finishes one of its tasks, and would commit if it could. */
  zombieActs(pick: number): void {
    const zombie = this.#zombies[pick % Math.max(1, this.#zombies.length)];
    const task = zombie?.running.pop();
    if (zombie === undefined || task === undefined) return;
    this.done.push(task.record.offset);
    task.finish();
    if (zombie.runner.commitPoint(true) !== null)
      this.failures.push(new Error("a former owner has something to commit"));
  }

  /** Runs until everything in the log is finished. */
  settle(): void {
    for (let round = 0; this.#owner.runner.committableOffset < this.log.end && round < 10_000; round += 1) {
      this.fetch(50);
      this.finish(round);
    }
    this.commit(true);
  }

  get committedOffset(): number {
    return this.#committed.offset;
  }
}

type Play = (simulation: Simulation, n: number, m: number) => void;

const append: Play = ({ log }, n, m) => log.append(n % 10 === 0 ? m % 6 : 0, n % 7 === 1 ? m % 3 : 0);
const fetch: Play = (simulation, n) => simulation.fetch(1 + (n % 20));
const finish: Play = (simulation, n) => simulation.finish(n);

/** The events of a play, the frequent ones several times. */
const PLAYS: readonly Play[] = [
  ...[append, append, append, append, fetch, fetch, fetch, finish, finish, finish, finish, finish],
  (simulation) => simulation.commit(true),
  (simulation) => simulation.commit(false),
  (simulation) => simulation.keep(),
  (simulation, n) => {
    if (n % 3 === 0) simulation.staleCommit();
  },
  (simulation, n, m) => {
    if (n % 5 === 0) simulation.staleFetch(m % (simulation.log.end + 1), 1 + (n % 20));
  },
  (simulation, n) => {
    if (n % 4 === 0) simulation.crash();
  },
  (simulation, n) => simulation.zombieActs(n),
];

const action = fc.record({ play: fc.constantFrom(...PLAYS), n: fc.nat(1000), m: fc.nat(1000) });

// In the long ring, with the properties of core's tracker and lanes, about a million random steps.
const isLong = process.env["POSTHASTE_LONG"] === "true";
describe("a partition whose owners crash, keep and lose it at random", () => {
  it("loses nothing, runs no repeated origin, repeats only what was in flight or uncommitted (C1, C2, D3)", () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 900, size: "max" }), (actions) => {
        const simulation = new Simulation();
        for (const { play, n, m } of actions) play(simulation, n, m);
        simulation.settle();
        expect(simulation.failures).toEqual([]);
        expect(simulation.committedOffset).toBe(simulation.log.end);

        const firsts = new Set<number>();
        const seen = new Set<number>();
        for (const { offset, origin } of simulation.log.records) {
          if (!seen.has(origin)) firsts.add(offset);
          seen.add(origin);
        }
        expect(new Set(simulation.done)).toEqual(firsts);
        expect(simulation.done.length - firsts.size).toBeLessThanOrEqual(simulation.repeatsAllowed);
      }),
      { numRuns: isLong ? 1250 : 250 },
    );
  });
});
