/**
 * Bounds the connections of a server, and with them the resources that clients can hold who send requests without
 * reading the answers, or who do nothing at all.
 *
 * Owns, for each connection with open requests, their number and the time since when there are any.
 * SL1  The server cuts off a connection with more than `maxOpenRequests` open requests: no client that we know of sends
 *      a second request before the answer to the first. Requests that were read from the socket together with them
 *      still reach the server's other listeners, which find the socket destroyed (`isCutOff`).
 * SL2  The server cuts off a request, with its connection, that is not over within `exchangeMs`; a request is over when
 *      its answer has been read to the end.
 * SL3  The server cuts off a connection on which nothing moves for `idleMs`; between two requests, the server's own
 *      keep-alive does so.
 * SL4  At most `maxConnections` connections are open, and each takes at most `maxRequests` requests before its client
 *      has to make another.
 * SL5  Neither SL2 nor SL3 bounds a request that is let last: the handler that takes it bounds it.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

export interface SocketLimits {
  readonly maxConnections: number;
  readonly maxRequests: number;
  readonly maxOpenRequests: number;
  readonly idleMs: number;
  readonly exchangeMs: number;
  /** How often the server looks for requests that are over their time (SL2). */
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
  /** Lets the connection's request last (SL5) until it is over. */
  letLast(request: IncomingMessage): void;
}

/** True when nobody is to answer a request any more, since its connection is cut off: nothing is to be made of it. */
export function isCutOff({ socket }: IncomingMessage): boolean {
  return socket.destroyed;
}

/** Bounds a server's connections until the server closes. */
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
      // The other requests waited behind this one, so their time begins at this moment.
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
