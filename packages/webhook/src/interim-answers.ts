/**
 * Leaves `100 Continue` out of the bytes that undici reads.
 *
 * HTTP obliges a client to pass over interim answers that it did not ask for, but undici ends the connection at `100
 * Continue`, so nothing would ever be delivered to a receiver behind a server that sends it. undici itself passes over
 * other interim answers (103 …). An answer begins where a read begins, since a connection has a single request at a
 * time. An interim answer that is cut in the middle of its head is left to undici: the request fails and is retried.
 */
import type { Socket } from "node:net";

const HEAD = Buffer.from("HTTP/1.1 100");
const HEAD_END = "\r\n\r\n";

/** Returns the same socket; its reads leave out every whole `100 Continue` at their start. */
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
  // This compares the first digit of the status first: that byte alone tells every final answer apart.
  if (chunk.length < HEAD.length || chunk[HEAD.length - 3] !== HEAD[HEAD.length - 3]) return false;
  return HEAD.equals(chunk.subarray(0, HEAD.length));
}
