/** The end of a connection that brought what is no request. */
import type { Socket } from "node:net";

/**
 * The client may still be sending what was refused. Were the connection closed at once, its system would be told of a
 * reset, and the answer would be lost: for so long, what comes is dropped unread.
 */
const LINGER_MS = 5000;

/**
 * Writes the last answer of a connection and ends it when the client does, in five seconds at the latest. Node tells of
 * a refused connection again for whatever comes after: `answer` is made and written once. A connection on which nothing
 * can be said any more is closed.
 */
export function endWithAnswer(
  error: Error & { readonly code?: string },
  socket: Pick<Socket, "writable" | "writableEnded" | "destroy" | "end" | "once">,
  answer: () => string,
): void {
  if (socket.writableEnded) return;
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(answer());
  const lingering = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once("close", () => clearTimeout(lingering));
}
