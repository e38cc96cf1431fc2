/** Answers that cost their reader much, as bytes on the wire. */
import type { Socket } from "node:net";

const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const LENGTH = 64 * 1024;
/** Header lines that are within the budget by their bytes. */
const MANY_LINES_BYTES = 30 * 1024;
/** As many header lines and one-byte chunks as an answer may have; ten kilobytes in chunks as small as they may be. */
const DEAR_LINES_BYTES = 1_250;
const DEAR_CHUNKS = 128;

/** The pause between two bytes of a drip: beyond no budget of bytes or pieces. */
const DRIP_MS = 1000;

/** An answer: its start, and the bytes that follow it without end; null for an answer that ends. */
interface HostileAnswer {
  readonly start: string;
  readonly endless: string | null;
  /** The pause between two writes of `endless`, in ms; by default as fast as the reader takes it. */
  readonly pauseMs?: number;
}

const repeated = (text: string, length = LENGTH): string => text.repeat(Math.ceil(length / text.length));

export const HOSTILE_ANSWERS = {
  "endless 102": { start: "", endless: repeated("HTTP/1.1 102 Processing\r\n\r\n") },
  "endless 103": { start: "", endless: repeated("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n") },
  "endless 100": { start: "", endless: repeated("HTTP/1.1 100 Continue\r\n\r\n") },
  "endless chunk extensions": { start: `${CHUNKED}1`, endless: repeated(";a=b") },
  "a chunk extension each": { start: CHUNKED, endless: repeated("1;a=b\r\nx\r\n") },
  "one-byte chunks": { start: CHUNKED, endless: repeated("1\r\nx\r\n") },
  "endless trailers": { start: `${CHUNKED}1\r\nx\r\n0\r\n`, endless: repeated("a:b\r\n") },
  "endless header lines": { start: "HTTP/1.1 200 OK\r\n", endless: repeated("a:b\r\n") },
  "one huge header": { start: "HTTP/1.1 200 OK\r\nA: ", endless: repeated("x") },
  "endless body": { start: "HTTP/1.1 200 OK\r\nContent-Length: 9000000000\r\n\r\n", endless: repeated("x") },
  "slow head": { start: "HTTP/1.1 200 OK\r\nA: ", endless: "x", pauseMs: DRIP_MS },
  "slow body": { start: "HTTP/1.1 200 OK\r\nContent-Length: 9000000000\r\n\r\n", endless: "x", pauseMs: DRIP_MS },
  "many header lines": { start: `HTTP/1.1 200 OK\r\n${repeated("a:b\r\n", MANY_LINES_BYTES)}\r\n`, endless: null },
  "200, then closed": { start: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", endless: null },
  "dear within its budget": {
    start: [
      ...["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n", repeated("a:b\r\n", DEAR_LINES_BYTES), "\r\n"],
      ...["1\r\nx\r\n".repeat(DEAR_CHUNKS), `40\r\n${"x".repeat(64)}\r\n`.repeat(DEAR_CHUNKS), "0\r\n\r\n"],
    ].join(""),
    endless: null,
  },
} as const satisfies Record<string, HostileAnswer>;

export type HostileName = keyof typeof HOSTILE_ANSWERS;

/** Writes the answer until the reader closes the connection. */
export function answerHostilely(socket: Socket, { start, endless, pauseMs }: HostileAnswer): void {
  if (endless === null) {
    socket.end(start);
    return;
  }
  if (start !== "") socket.write(start);
  if (pauseMs !== undefined) {
    const timer = setInterval(() => socket.write(endless), pauseMs);
    socket.on("close", () => clearInterval(timer));
    return;
  }
  const goOn = () => {
    while (!socket.destroyed && socket.write(endless));
  };
  socket.on("drain", goOn);
  goOn();
}
