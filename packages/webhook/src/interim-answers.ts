/**
 * `100 Continue`, left out of what undici reads.
 *
 * HTTP obliges a client to get over interim answers that it did not ask for, but undici ends the connection at this
 * one, so a receiver behind a server that sends it would never count as delivered. Others (103 …) undici gets over
 * itself. An answer begins where a read begins, since a connection has one request at a time; one that is cut in the
 * middle of its head is left to undici, and the request then fails and is retried.
 */
import type { Socket } from "node:net";

const HEAD = Buffer.from("HTTP/1.1 100");
const HEAD_END = "\r\n\r\n";

/** The same socket, whose reads leave out a whole `100 Continue` at their start, and as many as follow it. */
export function skipContinue(socket: Socket): Socket {
  const read: (size?: number) => unknown = socket.read.bind(socket);
  socket.read = (size?: number) => {
    let chunk = read(size);
    while (chunk instanceof Buffer && startsWithContinue(chunk)) {
      const end = chunk.indexOf(HEAD_END);
      if (end === -1) break;
      const rest = chunk.subarray(end + HEAD_END.length);
      chunk = rest.length > 0 ? rest : read();
    }
    return chunk;
  };
  return socket;
}

function startsWithContinue(chunk: Buffer): boolean {
  // The class of the status first: every final answer is told apart by this one byte.
  if (chunk.length < HEAD.length || chunk[HEAD.length - 3] !== HEAD[HEAD.length - 3]) return false;
  return HEAD.equals(chunk.subarray(0, HEAD.length));
}
