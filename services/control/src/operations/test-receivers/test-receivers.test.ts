import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { TestReceivers } from "./test-receivers.ts";

const BEHAVIOUR = { destinationId: null, status: 200, delayMs: 0 } as const;
const BODY = Buffer.alloc(64 * 1024);

let receivers: TestReceivers;
const send = (id: string, signal = new AbortController().signal) =>
  receivers.receive(id, { method: "POST", headers: {}, body: BODY }, signal);
const heldBytes = () => receivers.all().flatMap(({ requests }) => requests).length * BODY.length;

beforeEach(() => {
  vi.useFakeTimers();
  receivers = new TestReceivers({ secretsOf: () => undefined, nowMs: Date.now });
});
afterEach(() => {
  vi.useRealTimers();
});

it("TR1: the receiver that was idle longest gives way to a newer one", async () => {
  for (let n = 0; n < 20; n++) {
    receivers.make(`rcv_${n}`, BEHAVIOUR);
    vi.advanceTimersByTime(1);
  }
  receivers.find("rcv_0");
  await send("rcv_1");
  receivers.make("rcv_20", BEHAVIOUR);
  expect([receivers.all().length, ["rcv_0", "rcv_1", "rcv_2"].map((id) => receivers.has(id))]).toEqual([
    20,
    [true, true, false],
  ]);
});

it("TR2: all together hold 16 MB, and the one that holds most gives up its oldest", async () => {
  for (const id of ["rcv_0", "rcv_1"]) receivers.make(id, BEHAVIOUR);
  await send("rcv_0");
  for (let n = 0; n < 200; n++) await send("rcv_1");
  for (let n = 0; n < 150; n++) await send("rcv_0");
  expect(heldBytes()).toBeLessThanOrEqual(16 * 1024 * 1024);
  expect(heldBytes()).toBeGreaterThan(15 * 1024 * 1024);
  const counts = receivers.all().map(({ requests }) => requests.length);
  expect(Math.abs((counts[0] ?? 0) - (counts[1] ?? 0))).toBeLessThanOrEqual(2);
  expect(receivers.all()[1]?.requests.at(-1)?.seq).toBe(200);
});

it("TR3: a hundred answers wait at once, and no more", async () => {
  receivers.make("rcv_0", { ...BEHAVIOUR, delayMs: 10_000 });
  let answered = 0;
  const gone = new AbortController();
  const all = Array.from({ length: 150 }, async () => {
    await send("rcv_0", gone.signal);
    answered++;
  });
  // No timer can run out before these are answered, however slow the machine is.
  await Promise.all(all.slice(100));
  expect(answered).toBe(50);
  gone.abort();
  await Promise.all(all);
});

it("TR3: an answer that nobody waits for any more gives its place back", async () => {
  vi.useRealTimers();
  receivers.make("rcv_0", { ...BEHAVIOUR, delayMs: 300 });
  const gone = new AbortController();
  const all = Array.from({ length: 100 }, () => send("rcv_0", gone.signal));
  gone.abort();
  await Promise.all(all);
  const beganAt = performance.now();
  await send("rcv_0");
  expect(performance.now() - beganAt).toBeGreaterThanOrEqual(290);
});
