import { beforeEach, describe, expect, it } from "vitest";
import {
  BUSY_ROUND_MS,
  CONNECTING_ROUNDS,
  CROWD,
  MAX_BEGUN,
  MAX_WAITING_WORK_MS,
  ROUND_MS,
  STRANGERS_ROUND_MS,
} from "../limits.ts";
import { createWorkQueue, type WorkQueue, type WorkSender } from "./work-queue.ts";

let nowMs = 0;
let work: WorkQueue;
/** The sources of the work done, in order. */
let done: string[] = [];
beforeEach(() => {
  nowMs = 0;
  done = [];
  work = createWorkQueue(() => nowMs);
});

const source = (id: string): WorkSender => ({ source: id, address: "" });
const stranger = (address: string): WorkSender => ({ source: null, address });

/** Work that takes so many ms of the clock. */
const spend = (name: string, ms: number) => () => {
  nowMs += ms;
  done.push(name);
  return name;
};

const nextRound = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("work", () => {
  it("QW2: is done at once while there is time, and the rest waits for the next round", async () => {
    expect(work.run(source("a"), spend("a", ROUND_MS - 1))).toBe("a");
    expect(work.run(source("a"), spend("a", 1))).toBe("a");
    const waiting = work.run(source("a"), spend("a", 1));
    expect(waiting).toBeInstanceOf(Promise);
    expect(done).toHaveLength(2);
    expect(await waiting).toBe("a");
  });

  it("QW2: waits behind what waits, though the round has time left", async () => {
    void work.run(stranger("x"), spend("x", STRANGERS_ROUND_MS));
    void work.run(stranger("y"), spend("y", 1));
    const waiting = work.run(source("a"), spend("a", 1));
    expect(waiting).toBeInstanceOf(Promise);
    expect(done).toEqual(["x"]);
    expect(await waiting).toBe("a");
  });

  it("QW2: that was done at once counts: who had less of it comes first, of sources and of addresses", async () => {
    void work.run(source("a"), spend("a", ROUND_MS * 0.8));
    void work.run(source("b"), spend("b", ROUND_MS * 0.2));
    for (const name of ["a", "b"]) void work.run(source(name), spend(name, ROUND_MS * 0.2));
    await nextRound();
    expect(done).toEqual(["a", "b", "b", "a"]);

    work = createWorkQueue(() => nowMs);
    done = [];
    void work.run(stranger("x"), spend("x", STRANGERS_ROUND_MS * 0.75));
    void work.run(stranger("y"), spend("y", STRANGERS_ROUND_MS * 0.25));
    for (const name of ["x", "y"]) void work.run(stranger(name), spend(name, STRANGERS_ROUND_MS * 0.25));
    await nextRound();
    expect(done).toEqual(["x", "y", "y", "x"]);
  });

  it("QW1: goes on for a round's time and one piece more, and then hears what else there is", async () => {
    void work.run(source("a"), spend("a", ROUND_MS));
    for (let piece = 0; piece < 6; piece++) void work.run(source("a"), spend("a", ROUND_MS * 0.8));
    for (const pieces of [3, 5, 7]) {
      await nextRound();
      expect(done).toHaveLength(pieces);
    }
  });

  it("QW1: of strangers goes on for their part of a round and one piece, beside a source's and alone", async () => {
    expect(work.run(stranger("x"), spend("x", STRANGERS_ROUND_MS))).toBe("x");
    for (let piece = 0; piece < 4; piece++) void work.run(stranger(`${piece}`), spend("x", STRANGERS_ROUND_MS));
    expect(done).toHaveLength(1);
    const ofSource = work.run(source("a"), spend("a", ROUND_MS - STRANGERS_ROUND_MS - 0.5));
    await nextRound();
    expect(await ofSource).toBe("a");
    expect(done.filter((name) => name === "x")).toHaveLength(2);
    for (const pieces of [3, 4, 5]) {
      await nextRound();
      expect(done.filter((name) => name === "x")).toHaveLength(pieces);
    }
  });

  it("QW6: leaves rounds to those who connect, some between two with work and no more", async () => {
    void work.run(source("a"), spend("a", ROUND_MS));
    for (let piece = 0; piece < 4; piece++) void work.run(source("a"), spend("a", ROUND_MS));
    await nextRound();
    expect(done).toHaveLength(2);
    for (const pieces of [3, 4]) {
      for (let round = 0; round < CONNECTING_ROUNDS; round++) {
        work.connected();
        await nextRound();
        expect(done).toHaveLength(pieces - 1);
      }
      work.connected();
      await nextRound();
      expect(done).toHaveLength(pieces);
    }
    await nextRound();
    expect(done).toHaveLength(5);
  });

  it("is told by source how much time it took lately", async () => {
    void work.run(source("a"), spend("a", 4));
    void work.run(stranger("b"), spend("b", 4));
    void work.runInSteps("a", () => steps("a", 2, 6));
    for (let round = 0; round < 4; round++) await nextRound();
    expect(done).toHaveLength(4);
    expect(work.recentMs("a")).toBeGreaterThan(15.8);
    expect(work.recentMs("a")).toBeLessThan(16);
    expect(work.recentMs("b")).toBe(0);
    nowMs += 1_000;
    expect(work.recentMs("a")).toBeLessThan(8);
    expect(work.recentMs("a")).toBeGreaterThan(7.9);
  });

  it("QW2: of a source that sends little comes before that of one that sends much, whenever it comes", async () => {
    void work.run(source("much"), spend("much", ROUND_MS));
    for (let piece = 0; piece < 50; piece++) void work.run(source("much"), spend("much", 10));
    for (let round = 0; round < 10; round++) {
      await nextRound();
      const little = work.run(source("little"), spend("little", 1));
      await nextRound();
      expect(await little).toBe("little");
    }
    expect(done.filter((name) => name === "much").length).toBeLessThan(30);
    while (done.length < 61) await nextRound();
  });

  it("QW2: of strangers takes one turn, however many addresses they have, and is shared by address", async () => {
    void work.run(source("a"), spend("a", ROUND_MS));
    for (let piece = 0; piece < 20; piece++) {
      void work.run(stranger("many"), spend("many", ROUND_MS));
      void work.run(stranger(`once ${piece}`), spend("once", ROUND_MS));
      void work.run(source("a"), spend("a", ROUND_MS));
    }
    void work.run(stranger("few"), spend("few", ROUND_MS));
    while (done.length < 61) await nextRound();
    const firstHalf = done.slice(0, 31);
    expect(firstHalf.filter((name) => name === "a").length).toBeGreaterThanOrEqual(15);
    expect(firstHalf.filter((name) => name === "many").length).toBeLessThanOrEqual(2);
  });

  it("passes on what it throws, at once and later", async () => {
    const fail = () => {
      nowMs += ROUND_MS;
      throw new Error("no");
    };
    expect(() => work.run(source("a"), fail)).toThrow("no");
    await expect(work.run(source("a"), fail)).rejects.toThrow("no");
    const failing = function* () {
      yield;
      throw new Error("later");
    };
    await expect(work.runInSteps("a", failing)).rejects.toThrow("later");
    expect(await work.runInSteps("a", () => steps("a", 1, 1))).toBe("a");
  });

  it("QW5: is refused of who has its share of what may wait, and of nobody else", async () => {
    void work.run(source("a"), spend("a", ROUND_MS));
    let waiting = 0;
    while (!work.isFull(source("a")) && waiting < 100_000) {
      void work.run(source("a"), spend("a", 0));
      waiting++;
    }
    expect(waiting).toBeGreaterThan(MAX_WAITING_WORK_MS / ROUND_MS);
    expect(waiting).toBeLessThan(100_000);
    expect(work.isFull(source("b"))).toBe(false);
    expect(work.isFull(stranger("c"))).toBe(false);
    await nextRound();
    expect(work.isFull(source("a"))).toBe(false);
  });

  it("QW7: of strangers makes a crowd of the address it came from, while so much waits, and of no other", async () => {
    void work.run(stranger("x"), spend("x", STRANGERS_ROUND_MS));
    let waiting = 0;
    for (; !work.isCrowd("x") && waiting < 1_000; waiting++) void work.run(stranger("x"), spend("x", 0));
    expect(waiting).toBe(CROWD + 1);
    expect(work.isCrowd("y")).toBe(false);
    await nextRound();
    expect(done).toHaveLength(waiting + 1);
    expect(work.isCrowd("x")).toBe(false);
  });

  it.each([
    ["a source", source("a")],
    ["a stranger", stranger("x")],
  ])("QW5: of %s is expected to cost what it cost when it had waited", async (_who, sender) => {
    const dearMs = MAX_WAITING_WORK_MS / 10;
    void work.run(source("other"), spend("other", ROUND_MS));
    for (let piece = 0; piece < 40; piece++) void work.run(sender, spend("dear", dearMs));
    while (done.length < 41) await nextRound();
    await nextRound();
    void work.run(source("other"), spend("other", ROUND_MS));
    let waiting = 0;
    for (; !work.isFull(sender) && waiting < 1_000; waiting++) void work.run(sender, spend("dear", 0));
    expect(waiting).toBeLessThanOrEqual(12);
  });
});

function* steps(name: string, count: number, ms: number) {
  for (let step = 1; step < count; step++) {
    spend(name, ms)();
    yield;
  }
  return spend(name, ms)();
}

describe("long work", () => {
  it("QW3: is done in steps, and others' comes between them", async () => {
    const long = work.runInSteps("long", () => steps("long", 40, ROUND_MS));
    await nextRound();
    await nextRound();
    for (let time = 0; time < 5; time++) expect(await work.run(source("short"), spend("short", 1))).toBe("short");
    expect(done.filter((name) => name === "long").length).toBeLessThan(20);
    expect(await long).toBe("long");
    expect(done.filter((name) => name === "long")).toHaveLength(40);
  });

  it("QW3: is begun once a source and a few times in all, and no short work waits for that", async () => {
    const names = Array.from({ length: MAX_BEGUN + 3 }, (_, index) => `s${index}`);
    const all = names.flatMap((name) =>
      [1, 2].map((time) => work.runInSteps(name, () => steps(`${name} ${time}`, 3, ROUND_MS))),
    );
    const short = work.run(source("short"), spend("short", ROUND_MS));
    const open = () => {
      const begun = [...new Set(done)].filter((name) => name !== "short");
      return begun.filter((name) => done.filter((each) => each === name).length < 3);
    };
    let most = 0;
    while (done.length < names.length * 6 + 1) {
      await nextRound();
      most = Math.max(most, open().length);
      expect(new Set(open().map((name) => name.split(" ")[0])).size).toBe(open().length);
    }
    expect(most).toBe(MAX_BEGUN);
    expect(await short).toBe("short");
    await Promise.all(all);
    expect(done.indexOf("short")).toBeLessThan(names.length + 2);
  });
});

describe("the process", () => {
  it("QW4: is busy while its rounds take long, whatever takes them, and no longer", async () => {
    const round = async (ms: number) => {
      void work.run(source("a"), spend("a", 1));
      nowMs += ms;
      await nextRound();
      await nextRound();
    };
    await round(BUSY_ROUND_MS + 50);
    expect(work.isBusy()).toBe(false);
    for (let time = 0; time < 30; time++) await round(2 * BUSY_ROUND_MS + 10);
    expect(work.isBusy()).toBe(true);
    for (let time = 0; time < 30; time++) await round(1);
    expect(work.isBusy()).toBe(false);
  });
});
