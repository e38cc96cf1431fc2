import { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { AnswerBudget, PIECE_BYTES } from "./answer-budget.ts";

const LIMITS = { overheadBytes: 100, pieces: 5 };

/** A socket that has these pieces to read, in turn, behind a budget whose clock a test sets. */
function guarded(...pieces: readonly (string | null)[]) {
  const clock = { nowMs: 0, monotonicMs: () => clock.nowMs };
  const budget = new AnswerBudget(LIMITS, clock);
  const socket = new Socket();
  const left = [...pieces];
  const sizes: (number | undefined)[] = [];
  socket.read = (size) => {
    sizes.push(size);
    if (size === 0) return null;
    const piece = left.shift() ?? null;
    return piece === null ? null : Buffer.from(piece);
  };
  const errors: Error[] = [];
  socket.on("error", (error) => errors.push(error));
  budget.guard(socket);
  return { socket, budget, clock, errors, sizes };
}

describe("the budget of an answer", () => {
  it("WB1: ends the connection with the byte that is too much, whatever pieces it comes in", async () => {
    const { socket, errors } = guarded("x".repeat(60), "x".repeat(40), "x");
    expect([socket.read()?.length, socket.read()?.length]).toEqual([60, 40]);
    expect([socket.read(), socket.destroyed]).toEqual([null, true]);
    await new Promise((resolve) => socket.once("close", resolve));
    expect(errors).toMatchObject([{ code: "POSTHASTE_ANSWER_OVER_BUDGET" }]);
  });

  it("WB1: counts no byte of the body", () => {
    const { socket, budget } = guarded("x".repeat(90), "x".repeat(90), "x".repeat(90));
    for (let piece = 0; piece < 3; piece += 1) {
      expect(socket.read()?.length).toBe(90);
      budget.noteBody(90);
    }
    expect(socket.destroyed).toBe(false);
  });

  it("WB1: ends the connection with the piece that is too much, however small they are", () => {
    const { socket } = guarded("x", "x", "x", null, "x", "x", "x");
    while (!socket.destroyed && socket.read() !== null);
    expect(socket.destroyed).toBe(false);
    expect([socket.read(), socket.read(), socket.read()]).toEqual([Buffer.from("x"), Buffer.from("x"), null]);
    expect(socket.destroyed).toBe(true);
  });

  it("WB1: begins anew with each request of the connection", () => {
    const { socket, budget } = guarded(...Array.from({ length: 20 }, () => "x".repeat(60)));
    for (let request = 0; request < 20; request += 1) {
      budget.begin();
      expect(socket.read()?.length).toBe(60);
    }
  });

  it("WB2: reads a piece at a time where more has come, and as much as its reader asks for", () => {
    const { socket, sizes } = guarded("x", "x", "x");
    socket.read();
    Object.defineProperty(socket, "readableLength", { value: PIECE_BYTES + 1 });
    socket.read();
    socket.read(0);
    expect(sizes).toEqual([undefined, PIECE_BYTES, 0]);
  });

  it("WB2: returns nothing more after a whole piece until the next turn of the event loop", async () => {
    const { socket, budget } = guarded("x".repeat(PIECE_BYTES), "y", "z");
    budget.noteBody(PIECE_BYTES);
    const isTold = vi.fn();
    socket.on("readable", isTold);
    Object.defineProperty(socket, "readableLength", { value: 2 });
    expect([socket.read()?.length, socket.read(), socket.isPaused()]).toEqual([PIECE_BYTES, null, true]);
    await nextTurn();
    expect(isTold).toHaveBeenCalledOnce();
    expect([String(socket.read()), String(socket.read())]).toEqual(["y", "z"]);
  });

  it("WB4: reads no head on that has many lines, and any body", () => {
    const lines = "\n".repeat(300);
    const [head, body] = [guarded("HTTP", lines, "x"), guarded("HTTP", lines, lines, lines)];
    for (const { budget } of [head, body]) budget.noteBody(2_000);
    expect([head.socket.read()?.length, head.socket.read()?.length, head.socket.read()]).toEqual([4, 300, null]);
    expect(head.socket.destroyed).toBe(true);
    body.socket.read();
    body.budget.noteHead();
    for (let piece = 0; piece < 3; piece += 1) expect(body.socket.read()?.length).toBe(300);
    body.budget.begin();
    expect(body.socket.destroyed).toBe(false);
  });

  it("WB4: reads no more behind the head than the body has, and two pieces", () => {
    const piece = "x".repeat(1_000);
    const reads = (bodyBytes: number) => {
      const { socket, budget } = guarded("HTTP", ...Array.from({ length: 20 }, () => piece));
      Object.assign(budget, { limits: { overheadBytes: 32_000, pieces: 100 } });
      socket.read();
      budget.noteHead();
      let read = 0;
      for (; socket.read() !== null; read += 1) budget.noteBody(bodyBytes);
      return read;
    };
    expect([reads(0), reads(200), reads(600)]).toEqual([8, 12, 20]);
  });

  it("WB5: a body is over it with small chunks beyond the first, counted anew for each request", () => {
    const { budget } = guarded();
    const chunksOf = (bytes: number) => {
      budget.begin();
      let chunks = 0;
      while (chunks < 10_000 && budget.noteBody(bytes)) chunks += 1;
      return chunks;
    };
    expect([chunksOf(1), chunksOf(1), chunksOf(32), chunksOf(64)]).toEqual([130, 130, 256, 10_000]);
  });

  it("WB3: counts the time from each read to the next call, and little of a time for which the process stood still", () => {
    const { socket, budget, clock } = guarded("x", null, "x", null, "x", null, "x", null);
    socket.read();
    clock.nowMs = 500;
    // The first piece is small.
    expect(budget.spentMs()).toBe(0);
    socket.read();
    clock.nowMs = 0;
    socket.read();
    clock.nowMs = 1;
    expect(budget.spentMs()).toBe(1);
    socket.read();
    clock.nowMs = 1_000;
    expect(budget.spentMs()).toBe(1);
    socket.read();
    clock.nowMs = 1_000.5;
    socket.read();
    expect(budget.spentMs()).toBe(1.5);
    socket.read();
    clock.nowMs = 60_000;
    expect(budget.spentMs()).toBe(3.5);
    budget.begin();
    expect(budget.spentMs()).toBe(0);
    clock.nowMs = 60_001;
    expect(budget.spentMs()).toBe(1);
  });
});
