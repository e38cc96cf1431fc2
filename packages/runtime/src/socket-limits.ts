/**
 * Bounds the connections of a server, and with them the resources that clients can hold which send requests without
 * reading the answers, or do nothing at all.
 *
 * Owns: for each connection with open requests, those requests, and since when the oldest of them is served; the
 *     connections without one, the longest idle first.
 * SL1  The server cuts off a connection with more than `maxOpenRequests` open requests, or as many in one read, which
 *      may be answered as they come and hold up all other connections: no client that we know of sends a second
 *      request before the answer to the first. The one too many still reaches the server's other listeners,
 *      which find the socket destroyed; those behind it are not parsed.
 * SL2  The server cuts off a request, with its connection, that is not over within `exchangeMs`. A request is over when
 *      its answer has been read to the end. The time of a request that waits behind others on its connection begins
 *      when the request before it is over.
 * SL3  The server cuts off a connection on which nothing moves for `idleMs`. Between two requests the server's own
 *      keep-alive ends it.
 * SL4  At most `maxConnections` connections are open. For one more the server closes the connection that has been idle
 *      longest, so that nobody keeps others out by connections on which nothing is asked. After `maxRequests` requests
 *      on one, the client must open another.
 * SL5  SL2 and SL3 do not bound a request for which its handler called `letLast`: that handler bounds it. While it
 *      waits behind others on its connection, SL2 and SL3 bound the connection for the others' sake.
 * SL6  A connection whose body is cut too small (wire-pieces.ts), or whose head has too many lines (header-lines.ts),
 *      is closed. It gets the server's `clientError` as its answer where no other answer is on its way, and a second
 *      to read it.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { boundHeaderLines, TooManyHeaderLinesError } from "./header-lines.ts";
import { BodyCutTooSmallError, countPieces, stopParsing } from "./wire-pieces.ts";

export interface SocketLimits {
  readonly maxConnections: number;
  readonly maxRequests: number;
  readonly maxOpenRequests: number;
  readonly idleMs: number;
  readonly exchangeMs: number;
  /** How often the server looks for requests that took too long (SL2), in ms. */
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
  /** The oldest first: the server answers them in this order. */
  readonly requests: IncomingMessage[];
  sinceMs: number;
}

export interface LimitedSockets {
  /** Exempts the request from SL2 and SL3 until it is over (SL5). */
  letLast(request: IncomingMessage): void;
}

/** How long a refused sender has to read why, in ms: closing a connection with unread bytes resets it. */
const REFUSAL_READ_MS = 1_000;

/** Closes the connection of a refused sender (SL6), when the parser that found it has returned. */
function refuse(server: Server, socket: Socket, error: Error | null): void {
  process.nextTick(() => {
    if (error === null || !server.emit("clientError", error, socket)) socket.destroy();
    else setTimeout(() => socket.destroy(), REFUSAL_READ_MS).unref();
  });
}

/** Bounds a server's connections until the server closes. */
export function limitSockets(server: Server, limits: SocketLimits = DEFAULT_SOCKET_LIMITS): LimitedSockets {
  const open = new Map<Socket, Open>();
  const idle = new Set<Socket>();
  let connections = 0;
  const lasting = new WeakSet<IncomingMessage>();
  const mayLast = ([oldest]: readonly IncomingMessage[]) => oldest !== undefined && lasting.has(oldest);
  // One more, for which another makes room.
  server.maxConnections = limits.maxConnections + 1;
  server.maxRequestsPerSocket = limits.maxRequests;
  server.setTimeout(limits.idleMs);

  server.on("connection", (socket: Socket) => {
    connections += 1;
    const [longestIdle = socket] = idle;
    if (connections > limits.maxConnections) longestIdle.destroy();
    idle.add(socket);
    socket.once("close", () => {
      connections -= 1;
      idle.delete(socket);
    });
    boundHeaderLines(socket, () => refuse(server, socket, open.has(socket) ? null : new TooManyHeaderLinesError()));
  });
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    if (socket.destroyed) return;
    const of = open.get(socket) ?? { requests: [], sinceMs: performance.now() };
    open.set(socket, of);
    idle.delete(socket);
    of.requests.push(request);
    if (mayLast(of.requests)) socket.setTimeout(0);
    response.once("close", () => {
      const couldLast = mayLast(of.requests);
      of.requests.splice(of.requests.indexOf(request), 1);
      const canLast = mayLast(of.requests);
      if (canLast !== couldLast) socket.setTimeout(canLast ? 0 : limits.idleMs);
      // The connection's other requests waited behind this one, so their time begins now (SL2).
      of.sinceMs = performance.now();
      if (of.requests.length > 0) return;
      open.delete(socket);
      if (!socket.destroyed) idle.add(socket);
    });
    const ofRead = countPieces(request, () => {
      const mayAnswer = of.requests[0] === request && !response.headersSent;
      refuse(server, socket, mayAnswer ? new BodyCutTooSmallError() : null);
    });
    if (Math.max(of.requests.length, ofRead) > limits.maxOpenRequests) {
      stopParsing(socket);
      socket.destroy();
    }
  });

  const checking = setInterval(() => {
    const latestMs = performance.now() - limits.exchangeMs;
    for (const [socket, { requests, sinceMs }] of open) if (sinceMs < latestMs && !mayLast(requests)) socket.destroy();
  }, limits.checkMs);
  checking.unref();
  server.once("close", () => clearInterval(checking));
  return {
    letLast: (request) => {
      lasting.add(request);
      if (mayLast(open.get(request.socket)?.requests ?? [])) request.socket.setTimeout(0);
    },
  };
}
