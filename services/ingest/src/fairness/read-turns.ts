/**
 * Reads large bodies a little at a time, the sources in turn. A sender of half a megabyte on each of many connections
 * would otherwise have all of it read in one round of the event loop, and everybody else would wait.
 *
 * Owns: the bodies that wait to be read on, and how many bytes of bodies were read in this round.
 * BT1  Once `READ_ROUND_BYTES` of bodies were read in a round, no other body is read on in it, unless it is small,
 *      whole or refused.
 * BT2  In the next round as many of the waiting bodies are read on as should give that many bytes, the sources in turn,
 *      the longest-waiting body of a source first. All strangers are one source here.
 * BT3  At most `MAX_WAITING_BODIES` wait, since no budget counts Node's buffers of them; further ones are read at once.
 */
import { MAX_WAITING_BODIES, READ_PIECE_BYTES, READ_ROUND_BYTES } from "../limits.ts";
import { createFairQueue, flowOf } from "./fair-queue.ts";
import { createRoundEnd } from "./round-end.ts";

export interface ReadTurns {
  /** Counts bytes of a body that came. */
  count(bytes: number): void;
  /** Whether a large body with more to come must wait for its turn (BT1, BT3). */
  mustWait(): boolean;
  /** Calls `goOn` once, at the turn of the source's body, whatever became of it. */
  wait(sourceId: string | null, goOn: () => void): void;
}

/** Each turn costs the same; a body that gives more than a piece in one waits again. */
const TURN = 1;
const TURNS = READ_ROUND_BYTES / READ_PIECE_BYTES;

export function createReadTurns(): ReadTurns {
  // BT3 bounds the queue.
  const waiting = createFairQueue<() => void>();
  let readBytes = 0;

  const waitForEnd = createRoundEnd(() => {
    readBytes = 0;
    for (let turn = 0; turn < TURNS; turn++) {
      const next = waiting.take();
      if (next === undefined) return;
      waiting.charge(next.flow, TURN);
      next.work();
    }
    if (waiting.size > 0) waitForEnd();
  });

  return {
    count: (bytes) => {
      readBytes += bytes;
      waitForEnd();
    },
    mustWait: () => readBytes >= READ_ROUND_BYTES && waiting.size < MAX_WAITING_BODIES,
    wait: (sourceId, goOn) => {
      waiting.add(flowOf(sourceId), goOn);
      waitForEnd();
    },
  };
}
