import { PosthasteError } from "@posthaste/core/errors";
import { SILENT_LOG } from "@posthaste/core/log";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AwaitedSchemas } from "./awaited-schemas.ts";

const PATIENCE_MS = 10_000;

/** The registry's answer for each id; "known" is known to the codec from the first answer on. */
let answers: Map<number, "known" | "unknown" | "silent">;
let asked: number[];
let schemas: AwaitedSchemas;
let ending: AbortController;

function bytesOf(schemaId: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeInt32BE(schemaId, 1);
  return bytes;
}

beforeEach(() => {
  vi.useFakeTimers();
  answers = new Map();
  asked = [];
  ending = new AbortController();
  const known = new Set<number>();
  schemas = new AwaitedSchemas({
    prefetch: (bytes) => {
      const id = bytes.readInt32BE(1);
      if (known.has(id)) return undefined;
      asked.push(id);
      const answer = answers.get(id) ?? "known";
      if (answer === "unknown") return Promise.reject(new PosthasteError("unknown_schema", `no ${id}`));
      if (answer === "silent") {
        return Promise.reject(new PosthasteError("registry_unavailable", "no answer", { retryable: true }));
      }
      known.add(id);
      return Promise.resolve();
    },
    patienceMs: PATIENCE_MS,
    waiting: { log: SILENT_LOG, fields: { event: "waiting" }, message: "trying on", signal: ending.signal },
  });
});

afterEach(() => {
  ending.abort();
  vi.useRealTimers();
});

/** Whether the record with this schema may go on. */
function wait(schemaId: number): { done: boolean } {
  const state = { done: false };
  const waiting = schemas.prefetch(bytesOf(schemaId));
  if (waiting === undefined) state.done = true;
  else waiting.then(() => (state.done = true)).catch(() => undefined);
  return state;
}

describe("the schema of a record", () => {
  it("is not asked for when it is known, nor for bytes that name none", async () => {
    const first = wait(1);
    await vi.advanceTimersByTimeAsync(0);
    expect([first.done, wait(1).done, asked]).toEqual([true, true, [1]]);
    expect(schemas.prefetch(Buffer.from("no frame"))).toBeUndefined();
  });

  it("AW2: is waited for while the registry does not know it, and known once the registry does", async () => {
    answers.set(7, "unknown");
    const record = wait(7);
    await vi.advanceTimersByTimeAsync(PATIENCE_MS - 1000);
    expect(record.done).toBe(false);
    answers.set(7, "known");
    await vi.advanceTimersByTimeAsync(600);
    expect(record.done).toBe(true);
  });

  it("AW2: is given up when the registry has said so for long enough, and not before", async () => {
    answers.set(7, "unknown");
    const record = wait(7);
    await vi.advanceTimersByTimeAsync(PATIENCE_MS - 100);
    expect(record.done).toBe(false);
    await vi.advanceTimersByTimeAsync(700);
    expect(record.done).toBe(true);
  });

  it("AW1, AW2: is waited for without an end while nobody answers, and that time does not count", async () => {
    answers.set(7, "silent");
    const record = wait(7);
    await vi.advanceTimersByTimeAsync(20 * PATIENCE_MS);
    expect(record.done).toBe(false);
    answers.set(7, "unknown");
    await vi.advanceTimersByTimeAsync(PATIENCE_MS - 1000);
    answers.set(7, "silent");
    await vi.advanceTimersByTimeAsync(5 * PATIENCE_MS);
    expect(record.done).toBe(false);
    answers.set(7, "unknown");
    await vi.advanceTimersByTimeAsync(600);
    expect(record.done).toBe(false);
    await vi.advanceTimersByTimeAsync(2500);
    expect(record.done).toBe(true);
  });

  it("AW3: is waited for by all its records from the first on, those behind another record included", async () => {
    answers.set(7, "unknown").set(8, "unknown");
    const first = wait(7);
    schemas.ahead(bytesOf(8));
    await vi.advanceTimersByTimeAsync(PATIENCE_MS - 1000);
    const before = asked.length;
    const [second, other] = [wait(7), wait(8)];
    // They join the questions that are out.
    expect(asked).toHaveLength(before);
    await vi.advanceTimersByTimeAsync(1700);
    expect([first.done, second.done, other.done]).toEqual([true, true, true]);
  });

  it("AW4: is asked for now and then after it was given up, without patience, until it is known", async () => {
    answers.set(7, "unknown");
    wait(7);
    await vi.advanceTimersByTimeAsync(PATIENCE_MS + 1000);
    const before = asked.length;
    expect([wait(7).done, asked.length]).toEqual([true, before]);
    await vi.advanceTimersByTimeAsync(5000);
    const again = wait(7);
    await vi.advanceTimersByTimeAsync(0);
    expect([again.done, asked.length]).toEqual([true, before + 1]);
    answers.set(7, "known");
    await vi.advanceTimersByTimeAsync(5000);
    wait(7);
    await vi.advanceTimersByTimeAsync(0);
    expect([schemas.prefetch(bytesOf(7)), asked.length]).toEqual([undefined, before + 2]);
  });

  it("is waited for no longer when the process ends, which hands the last failure on", async () => {
    answers.set(7, "silent");
    const waiting = schemas.prefetch(bytesOf(7));
    const ended = expect(waiting).rejects.toMatchObject({ code: "registry_unavailable" });
    await vi.advanceTimersByTimeAsync(2000);
    ending.abort();
    await ended;
  });
});
