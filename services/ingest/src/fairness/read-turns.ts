/**
 * Reading large bodies, a little at a time and the sources in turns: who sends half a megabyte on each of many
 * connections would have all of it read in one round of the event loop, and everybody else is heard after that.
 *
 * Owns the bodies that wait to be read on, and how much of bodies was read in the round.
 * BT1  Once `READ_ROUND_BYTES` of bodies were read in a round, no body goes on to be read in it but those that are
 *      small, whole or refused.
 * BT2  Of those that wait as many are read on in the next round as are expected to give that much, the sources in
 *      turns, within a source the one that waits longest. All strangers are one source here.
 * BT3  So many wait and no more, since what Node has read of them is in no budget; further ones are read at once.
 */
import { MAX_WAITING_BODIES, READ_PIECE_BYTES, READ_ROUND_BYTES } from "../limits.ts";
import { createFairQueue, flowOf } from "./fair-queue.ts";
import { createRoundEnd } from "./round-end.ts";

export interface ReadTurns {
  /** So many bytes of a body came. */
  count(bytes: number): void;
  /** Whether a large body of which more is to come has to wait for its turn (BT1, BT3). */
  mustWait(): boolean;
  /** Calls `goOn` once, when it is the turn of a source's body to be read on, whatever became of it. */
  wait(sourceId: string | null, goOn: () => void): void;
}

/** A turn is a turn: a body that gives more in one waits again. */
const TURN = 1;
const TURNS = READ_ROUND_BYTES / READ_PIECE_BYTES;

export function createReadTurns(): ReadTurns {
  // BT3 is the bound.
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
