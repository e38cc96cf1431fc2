/**
 * The receiver of the benchmark, in a process of its own. It answers every request with an empty 200, and prints its
 * port.
 */
import { createServer } from "node:net";

const ANSWER = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
const HEAD_END = Buffer.from("\r\n\r\n");

/** Bytes from the start of a request to its end, or -1 when it is not all there. Every request has a content-length. */
function requestLength(buffer: Buffer): number {
  const headEnd = buffer.indexOf(HEAD_END);
  if (headEnd === -1) return -1;
  const match = /content-length: (\d+)/i.exec(buffer.toString("latin1", 0, headEnd));
  const length = headEnd + HEAD_END.length + Number(match?.[1] ?? 0);
  return buffer.length >= length ? length : -1;
}

const server = createServer({ noDelay: true }, (socket) => {
  let pending: Buffer = Buffer.alloc(0);
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    for (let length = requestLength(pending); length !== -1; length = requestLength(pending)) {
      pending = pending.subarray(length);
      socket.write(ANSWER);
    }
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`${typeof address === "object" ? address?.port : ""}\n`);
});
process.stdin.on("end", () => process.exit()).resume();
