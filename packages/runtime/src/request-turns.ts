/**
 * Spreads requests that come at once over turns of the event loop, so that nobody waits for all of them. A read of many
 * connections is one turn, which without this file lasts as long as the answers to all of their requests.
 *
 * Owns: the requests that wait for a later turn, by address.
 * QT1  A turn hands at most `PER_TURN` requests to the handler. The others wait for the next turns, in which the
 *      addresses alternate; those of an address keep their order.
 * QT2  A request whose connection was cut off meanwhile is not handed on.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

/** A millisecond or so of the dearest answers. */
export const PER_TURN = 4;

type Waiting = readonly [IncomingMessage, ServerResponse];

/** Wraps a handler; `nextTurn` calls back in the next turn of the event loop. */
export function inTurns(handler: RequestListener, nextTurn: (begin: () => void) => void = setImmediate) {
  const waiting = new Map<string, Waiting[]>();
  let left = PER_TURN;
  let isTurnAsked = false;

  const askTurn = () => {
    if (isTurnAsked) return;
    isTurnAsked = true;
    nextTurn(beginTurn);
  };
  const beginTurn = () => {
    isTurnAsked = false;
    left = PER_TURN;
    for (const [address, queue] of waiting) {
      if (left === 0) break;
      // An address that has more comes again behind the others, in the same loop.
      waiting.delete(address);
      const next = queue.shift();
      if (queue.length > 0) waiting.set(address, queue);
      if (next !== undefined) hand(...next);
    }
  };
  const hand = (request: IncomingMessage, response: ServerResponse) => {
    if (request.socket.destroyed) return;
    left -= 1;
    askTurn();
    handler(request, response);
  };

  return (request: IncomingMessage, response: ServerResponse): void => {
    if (left > 0 && waiting.size === 0) {
      hand(request, response);
      return;
    }
    const address = request.socket.remoteAddress ?? "";
    const queue = waiting.get(address);
    if (queue === undefined) waiting.set(address, [[request, response]]);
    else queue.push([request, response]);
    askTurn();
  };
}
