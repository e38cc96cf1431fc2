/** Tests the rules of long-requests.ts, and LV4 of live-stream.ts. */
import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { NOBODY } from "./caller.ts";
import { LEAST_BYTES_PER_SECOND, LongRequests, PACE_AFTER_MS, STALL_MS } from "./long-requests.ts";

beforeEach(() => vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] }));
afterEach(() => vi.useRealTimers());

/** The part of a response that the code reads; `takes` says whether its client has taken the written bytes. */
class FakeResponse extends EventEmitter {
  takes = true;
  destroyed = false;
  readonly socket = { bytesWritten: 0, writableLength: 0 };
  get writableNeedDrain(): boolean {
    return !this.takes;
  }
  destroy(): void {
    this.destroyed = true;
    this.emit("close");
  }
}

let mayGoOn: boolean;
let longs: LongRequests;
beforeEach(() => {
  mayGoOn = true;
  longs = new LongRequests({ isStillAllowed: () => mayGoOn });
});

function open(tokenId: string | null = null, isCounted = true): FakeResponse {
  const response = new FakeResponse();
  longs.begin(response as unknown as ServerResponse, { ...NOBODY, tokenId }, { isCounted });
  return response;
}

describe("LQ1", () => {
  const refused = expect.objectContaining({ kind: "too_many_requests", headers: { "retry-after": "5" } });

  it("a token has six at a time; whoever ends one makes room, and no other token is kept out", () => {
    const held = Array.from({ length: 6 }, () => open("tok_1"));
    expect(() => open("tok_1")).toThrow(refused);
    expect(open("tok_2").destroyed).toBe(false);
    held[3]?.destroy();
    expect(open("tok_1").destroyed).toBe(false);
    expect(() => open("tok_1")).toThrow(refused);
  });

  it("all tokens have twenty-four together, and those that watch are not counted", () => {
    const all = ["a", "b", "c", "d"].flatMap((id) => Array.from({ length: 6 }, () => open(id)));
    expect(() => open("e")).toThrow(refused);
    expect(open("e", false).destroyed).toBe(false);
    for (const each of all) each.destroy();
    expect(open("e").destroyed).toBe(false);
  });
});

it("LQ2: one whose token was revoked is cut off, a watching one too", () => {
  const both = [open(), open(null, false)];
  vi.advanceTimersByTime(1000);
  expect(both.map(({ destroyed }) => destroyed)).toEqual([false, false]);
  mayGoOn = false;
  vi.advanceTimersByTime(250);
  expect(both.map(({ destroyed }) => destroyed)).toEqual([true, true]);
});

describe("LQ3", () => {
  it("a client that takes nothing for so long is cut off, and looked at no more", () => {
    const response = open();
    vi.advanceTimersByTime(3 * STALL_MS);
    response.takes = false;
    vi.advanceTimersByTime(STALL_MS - 500);
    expect(response.destroyed).toBe(false);
    vi.advanceTimersByTime(1000);
    expect([response.destroyed, vi.getTimerCount()]).toEqual([true, 0]);
  });

  /** A client that is waited for all the time and takes so many bytes every ten seconds. */
  function takeSlowly(bytes: number): FakeResponse {
    const response = open();
    response.takes = false;
    for (let ms = 0; ms <= PACE_AFTER_MS && !response.destroyed; ms += 10_000) {
      vi.advanceTimersByTime(10_000);
      response.socket.bytesWritten += bytes;
      response.emit("drain");
    }
    vi.advanceTimersByTime(1000);
    return response;
  }

  it("one that keeps the pace is not, one that takes less is", () => {
    const pace = 10 * LEAST_BYTES_PER_SECOND;
    expect([takeSlowly(pace * 1.1).destroyed, takeSlowly(pace * 0.9).destroyed]).toEqual([false, true]);
  });

  it("one to whom nothing comes for any time is not", () => {
    const response = open();
    vi.advanceTimersByTime(100 * PACE_AFTER_MS);
    expect(response.destroyed).toBe(false);
  });
});
