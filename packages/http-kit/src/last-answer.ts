/** Ends a connection whose bytes are no HTTP request. */
import type { Socket } from "node:net";
import { dropRest } from "@posthaste/runtime/wire-pieces";

/**
 * How long, in ms, the connection stays open after its last answer, dropping unread what the client still sends. If
 * control closed it at once, the client's system would report a reset and lose the answer.
 */
const LINGER_MS = 5000;

/**
 * Writes the last answer of a connection, and ends the connection when the client does, `LINGER_MS` later at the
 * latest. Nothing more of the connection is parsed: Node would make an error of each read. `answer` is called once, and
 * its text written once. A connection that can no longer be written to is destroyed.
 */
export function endWithAnswer(error: Error & { readonly code?: string }, socket: Socket, answer: () => string): void {
  if (socket.writableEnded) return;
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(answer());
  dropRest(socket);
  const lingering = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once("close", () => clearTimeout(lingering));
}
