/**
 * Requests that may take long: files and streams of any length, uploads, plans.
 *
 * Owns: the long requests that are under way.
 * LQ1  A caller has at most `MOST_OF_CALLER` long requests at a time and all callers together at most `MOST`; a further
 *      one is refused. Routes that watch count their own.
 * LQ2  A long request goes on only while its caller's token and session live: four times a second the server asks.
 * LQ3  A client that takes none of the bytes waiting for it for `STALL_MS` is cut off. So is a client that, after
 *      `PACE_AFTER_MS` of being waited for, has taken fewer than `LEAST_BYTES_PER_SECOND`.
 */
import type { ServerResponse } from "node:http";
import type { Caller } from "@posthaste/core/access/author";
import type { Callers } from "./caller.ts";
import { Problem } from "./problem.ts";

const MOST_OF_CALLER = 6;
const MOST = 24;
const LOOK_MS = 250;
export const STALL_MS = 60_000;
/** Uploads keep the same pace. */
export const PACE_AFTER_MS = 5 * 60_000;
export const LEAST_BYTES_PER_SECOND = 1024;
const AGAIN_SECONDS = "5";

export class LongRequests {
  readonly #callers: Pick<Callers, "isStillAllowed">;
  readonly #open = new Map<string, number>();
  #all = 0;

  constructor(callers: Pick<Callers, "isStillAllowed">) {
    this.#callers = callers;
  }

  /**
   * Begins a request, which ends with its response. Throws the Problem `too_many_requests` where `isCounted` and the
   * caller, or all callers, have as many as they may (LQ1).
   */
  begin(response: ServerResponse, caller: Caller, { isCounted }: { readonly isCounted: boolean }): void {
    if (isCounted) this.#count(response, caller.tokenId ?? "");
    boundResponse(response, () => this.#callers.isStillAllowed(caller));
  }

  #count(response: ServerResponse, of: string): void {
    const held = this.#open.get(of) ?? 0;
    if (held >= MOST_OF_CALLER) throw tooMany(`this token has ${held} long requests under way, as many as it may`);
    if (this.#all >= MOST) throw tooMany(`${this.#all} long requests are under way, as many as this process serves`);
    this.#open.set(of, held + 1);
    this.#all += 1;
    response.once("close", () => {
      this.#all -= 1;
      const left = (this.#open.get(of) ?? 1) - 1;
      if (left === 0) this.#open.delete(of);
      else this.#open.set(of, left);
    });
  }
}

function tooMany(detail: string): Problem {
  return new Problem("too_many_requests", `${detail}: send it again when one of them has ended`, [], {
    "retry-after": AGAIN_SECONDS,
  });
}

/** LQ2 and LQ3. How much may wait in the response is bounded by the stream that feeds it. */
export function boundResponse(response: ServerResponse, mayGoOn: () => boolean): void {
  let lookedAtMs = performance.now();
  let movedAtMs = lookedAtMs;
  let waitedMs = 0;
  const looking = setInterval(() => {
    const nowMs = performance.now();
    if (response.writableNeedDrain) waitedMs += nowMs - lookedAtMs;
    else movedAtMs = nowMs;
    lookedAtMs = nowMs;
    const isStalled = nowMs - movedAtMs > STALL_MS;
    const isSlow = waitedMs > PACE_AFTER_MS && takenBytes(response) * 1000 < waitedMs * LEAST_BYTES_PER_SECOND;
    if (isStalled || isSlow || !mayGoOn()) response.destroy();
  }, LOOK_MS);
  response.on("drain", () => {
    movedAtMs = performance.now();
  });
  response.once("close", () => clearInterval(looking));
}

/** The number of bytes that the connection has taken so far, for earlier requests too. */
function takenBytes({ socket }: ServerResponse): number {
  return socket === null ? 0 : socket.bytesWritten - socket.writableLength;
}
