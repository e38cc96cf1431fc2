/** Ends a connection whose bytes are no HTTP request. */
import type { Socket } from "node:net";
import { dropRest } from "@posthaste/runtime/wire-pieces";

/**
 * The time, in ms, for which a connection stays open after its last answer. Further bytes of the client are dropped
 * unread. If control closed the connection at once, the client's system would report a reset and lose the answer.
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
