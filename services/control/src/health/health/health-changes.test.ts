/** Rules: LH1 to LH3 of health-changes.ts. */

import type { EntryPlace } from "@posthaste/kafka/log/recent-entries";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isBelow } from "../../delivery-log/live/live-position.ts";
import { HealthChanges } from "./health-changes.ts";
import type { KnownDestination } from "./known-health.ts";

const FIRST: EntryPlace = { offset: 0, place: 0 };

type Reported = Readonly<Record<string, number>>;

/** A known destination: the status of its last failure stands for its whole health. */
function known(id: string, status: number): KnownDestination {
  const destination = { id, name: id, urls: [{ url: "https://a.example/" }] };
  const reason = { url: "https://a.example/", atMs: 1, outcome: "retryable", status, error: null, durationMs: 1 };
  const judged = { state: "failing", sinceMs: 1, reason, nextProbeMs: null, deliversAgainSinceMs: null };
  return { destination, judged, held: [] } as unknown as KnownDestination;
}

/** A process of control: the present states of destinations that it knows, and a clock of its own. */
class Process {
  readonly states = new Map<string, number>();
  nowMs = 1_000_000;
  readonly changes = new HealthChanges(
    {
      get: (id) => {
        const status = this.states.get(id);
        return status === undefined ? undefined : known(id, status);
      },
      all: () => Array.from(this.states, ([id, status]) => known(id, status)),
    },
    () => this.nowMs,
  );

  set(id: string, status: number): void {
    this.states.set(id, status);
    this.changes.look(id);
  }
}

/** A client that goes from process to process with the last id that it has. */
class Client {
  readonly states = new Map<string, number>();
  rows: string[] = [];
  #at: EntryPlace = FIRST;

  constructor(process: Process) {
    this.#at = process.changes.recent.now().get(0) ?? FIRST;
    for (const [id, status] of process.states) this.states.set(id, status);
  }

  goTo(process: Process): void {
    this.#at = HealthChanges.before(this.#at);
    this.read(process);
  }

  read({ changes, states }: Process): void {
    for (const { value, ...entry } of changes.recent.from(0)) {
      if (isBelow(entry, this.#at) || !changes.isNewest(value, entry.offset)) continue;
      this.rows.push(value.destinationId);
      this.states.set(value.destinationId, states.get(value.destinationId) ?? 0);
    }
    this.#at = { offset: changes.recent.nextOf(0) ?? 0, place: 0 };
  }
}

const started = (states: Reported): Process => {
  const process = new Process();
  for (const [id, status] of Object.entries(states)) process.states.set(id, status);
  process.changes.start();
  return process;
};

describe("changes of health", () => {
  it("LH1: are of what changed alone, each as it stands now", () => {
    const process = started({ a: 500, b: 500 });
    const client = new Client(process);
    process.set("a", 500);
    process.changes.lookAtAll();
    client.read(process);
    expect(client.rows).toEqual([]);
    process.set("a", 502);
    process.set("a", 503);
    client.read(process);
    expect([client.rows, client.states.get("a")]).toEqual([["a"], 503]);
    process.states.set("b", 504);
    process.changes.lookAtAll();
    client.read(process);
    expect(client.rows).toEqual(["a", "b"]);
  });

  it.each([
    ["its name", { name: "b" }, {}],
    ["its URLs", { urls: [{ url: "https://b.example/" }] }, {}],
    ["its state", {}, { judged: { state: "open" } }],
    ["why", {}, { judged: { reason: { url: "https://b.example/" } } }],
    ["its next probe", {}, { judged: { nextProbeMs: 5 } }],
    ["a URL whose breaker is not closed", {}, { held: [{ urls: [{ url: "https://a.example/", breaker: "open" }] }] }],
  ])("are of %s", (_what, destination, { judged, held }: { readonly judged?: object; readonly held?: object[] }) => {
    const before = known("a", 500);
    let now = before;
    const changes = new HealthChanges({ get: () => now, all: () => [now] }, () => 1);
    changes.start();
    const from = changes.recent.nextNumber;
    now = {
      destination: { ...before.destination, ...destination },
      judged: { ...before.judged, ...judged },
      held: held ?? [],
    } as unknown as KnownDestination;
    changes.look("a");
    expect([...changes.recent.from(from)]).toMatchObject([{ value: { destinationId: "a" } }]);
  });

  it("are none of counts that rise, and of URLs whose breaker is closed", () => {
    let now = known("a", 500);
    const changes = new HealthChanges({ get: () => now, all: () => [now] }, () => 1);
    changes.start();
    const from = changes.recent.nextNumber;
    const held = [{ delivered: 9, urls: [{ url: "https://a.example/", breaker: "closed" }] }];
    now = { ...now, held } as unknown as KnownDestination;
    changes.look("a");
    expect([...changes.recent.from(from)]).toEqual([]);
  });

  it("have a moment each, also where they are seen at once", () => {
    const { changes } = started({ a: 500, b: 500, c: 500 });
    expect(Array.from(changes.recent.from(0), ({ offset }) => offset)).toEqual([1_000_000, 1_000_001, 1_000_002]);
  });

  it("of a destination that is no more are none, and one that is made again under its id changed", () => {
    const process = started({ a: 500 });
    const client = new Client(process);
    process.set("a", 501);
    process.states.delete("a");
    process.changes.lookAtAll();
    client.read(process);
    expect(client.rows).toEqual([]);
    process.set("a", 501);
    client.read(process);
    expect(client.rows).toEqual(["a"]);
  });

  it("LH3: are of every destination after a start, for whoever comes from before", () => {
    const client = new Client(started({ a: 500 }));
    const restarted = started({ a: 500, b: 500 });
    restarted.nowMs += 1000;
    expect(new Client(restarted).rows).toEqual([]);
    client.goTo(restarted);
    expect(client.rows).toEqual(["a", "b"]);
  });

  it("LH3: are of those too of which something was read before the start", () => {
    const process = new Process();
    process.set("a", 500);
    process.changes.start();
    expect(Array.from(process.changes.recent.from(0), ({ value }) => value.destinationId)).toEqual(["a"]);
  });

  it("LH2: reach whoever goes from one process to another, of which each sees them at its own moment", () => {
    const ids = fc.constantFrom("a", "b", "c");
    const step = fc.oneof(
      fc.record({ id: ids, status: fc.integer({ min: 500, max: 503 }), lagMs: fc.nat(4000) }),
      fc.record({ to: fc.nat(1) }),
      fc.record({ afterMs: fc.nat(6000) }),
    );
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 40 }),
        fc.array(fc.nat(2000), { minLength: 2, maxLength: 2 }),
        (all, skews) => {
          const processes = [started({ a: 500, b: 500, c: 500 }), started({ a: 500, b: 500, c: 500 })] as const;
          const due: { readonly atMs: number; readonly id: string; readonly status: number }[] = [];
          let timeMs = 1_000_000;
          const passTo = (untilMs: number): void => {
            timeMs = untilMs;
            for (const [index, process] of processes.entries()) process.nowMs = timeMs + (skews[index] ?? 0);
            // The second process gets its late changes in the order in which they happened.
            while (due[0] !== undefined && due[0].atMs <= timeMs) {
              const { id, status } = due[0];
              due.shift();
              processes[1].set(id, status);
            }
            for (const { changes } of processes) changes.lookAtAll();
          };
          passTo(timeMs + 20_000);
          const client = new Client(processes[0]);
          for (const each of all) {
            if ("to" in each) client.goTo(processes[each.to === 0 ? 0 : 1]);
            else if ("afterMs" in each) passTo(timeMs + each.afterMs);
            else {
              processes[0].set(each.id, each.status);
              due.push({ ...each, atMs: Math.max(due.at(-1)?.atMs ?? 0, timeMs + each.lagMs) });
            }
          }
          passTo(timeMs + 4000);
          client.goTo(processes[0]);
          expect(Object.fromEntries(client.states)).toEqual(Object.fromEntries(processes[0].states));
        },
      ),
      { numRuns: 500 },
    );
  });
});
