/** Rule: LV4 of live-stream.ts. */
import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { boundStream } from "./stream-bounds.ts";

beforeEach(() => vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] }));
afterEach(() => vi.useRealTimers());

/** As much of a response as is looked at; `takes` says whether its client has taken what was written. */
class FakeResponse extends EventEmitter {
  takes = true;
  destroyed = false;
  get writableNeedDrain(): boolean {
    return !this.takes;
  }
  destroy(): void {
    this.destroyed = true;
    this.emit("close");
  }
}

const STALL_MS = 20_000;
let mayGoOn = true;

function openStream(): FakeResponse {
  mayGoOn = true;
  const response = new FakeResponse();
  boundStream(response as unknown as ServerResponse, { stallMs: STALL_MS, mayGoOn: () => mayGoOn });
  return response;
}

it("a client that takes nothing for so long is cut off, and looked at no more", () => {
  const response = openStream();
  vi.advanceTimersByTime(60_000);
  response.takes = false;
  vi.advanceTimersByTime(STALL_MS - 500);
  expect(response.destroyed).toBe(false);
  vi.advanceTimersByTime(1000);
  expect([response.destroyed, vi.getTimerCount()]).toEqual([true, 0]);
});

it("one that takes what comes, however slowly, or to whom nothing comes, is not", () => {
  const response = openStream();
  vi.advanceTimersByTime(10 * STALL_MS);
  response.takes = false;
  for (let n = 0; n < 10; n += 1) {
    vi.advanceTimersByTime(STALL_MS - 500);
    response.emit("drain");
  }
  expect(response.destroyed).toBe(false);
});

it("one that may no longer have the answer is cut off", () => {
  const response = openStream();
  vi.advanceTimersByTime(1000);
  mayGoOn = false;
  vi.advanceTimersByTime(250);
  expect(response.destroyed).toBe(true);
});
