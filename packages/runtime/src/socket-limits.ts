/**
 * Bounds of a server's connections: what somebody may pin who sends requests and does not read the answers, or does
 * nothing at all.
 *
 * Owns, for each connection with requests that are not over, their number and since when there are any.
 * SL1  A connection with more than `maxOpenRequests` at once is cut off: no client that we know of sends a second one
 *      before the answer to the first. What was read from the socket with them still comes to the server's other
 *      listeners, which find the socket destroyed (`isCutOff`).
 * SL2  A request that is not over `exchangeMs` after it began, its answer read to the end, is cut off with its
 *      connection.
 * SL3  A connection on which nothing moves for `idleMs` is cut off, one between two requests by the server's own
 *      keep-alive.
 * SL4  At most `maxConnections` are open, and each takes at most `maxRequests` before it has to be made anew.
 * SL5  A request that is let last is bound by neither SL2 nor SL3: whoever takes it bounds it.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

export interface SocketLimits {
  readonly maxConnections: number;
  readonly maxRequests: number;
  readonly maxOpenRequests: number;
  readonly idleMs: number;
  readonly exchangeMs: number;
  /** How often SL2 is looked at. */
  readonly checkMs: number;
}

export const DEFAULT_SOCKET_LIMITS: SocketLimits = {
  maxConnections: 1_000,
  maxRequests: 10_000,
  maxOpenRequests: 16,
  idleMs: 60_000,
  exchangeMs: 60_000,
  checkMs: 1_000,
};

interface Open {
  requests: number;
  sinceMs: number;
}

export interface LimitedSockets {
  /** SL5, until the request is over. */
  letLast(request: IncomingMessage): void;
}

/** Whether nobody is to answer a request any more, since its connection is cut off: nothing is to be made of it. */
export function isCutOff({ socket }: IncomingMessage): boolean {
  return socket.destroyed;
}

/** Puts the bounds on a server until it closes. */
export function limitSockets(server: Server, limits: SocketLimits = DEFAULT_SOCKET_LIMITS): LimitedSockets {
  const open = new Map<Socket, Open>();
  const lasting = new Set<Socket>();
  server.maxConnections = limits.maxConnections;
  server.maxRequestsPerSocket = limits.maxRequests;
  server.setTimeout(limits.idleMs);

  server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    if (socket.destroyed) return;
    const of = open.get(socket) ?? { requests: 0, sinceMs: performance.now() };
    open.set(socket, of);
    of.requests++;
    response.once("close", () => {
      of.requests--;
      if (lasting.delete(socket)) socket.setTimeout(limits.idleMs);
      // The others waited behind this one; each has its time from then.
      of.sinceMs = performance.now();
      if (of.requests === 0) open.delete(socket);
    });
    if (of.requests > limits.maxOpenRequests) socket.destroy();
  });

  const checking = setInterval(() => {
    const latestMs = performance.now() - limits.exchangeMs;
    for (const [socket, { sinceMs }] of open) if (sinceMs < latestMs && !lasting.has(socket)) socket.destroy();
  }, limits.checkMs);
  checking.unref();
  server.once("close", () => clearInterval(checking));
  return {
    letLast: ({ socket }) => {
      lasting.add(socket);
      socket.setTimeout(0);
    },
  };
}
