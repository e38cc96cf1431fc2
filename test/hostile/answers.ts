/** The answers of a hostile server to which the product is a client. */
import type { Stream } from "./stream.ts";

export const ANSWER_HEADS: readonly string[] = [
  ...["200 OK", "200 OK", "204 No Content", "301 Moved", "400 Bad Request", "503 Unavailable"],
  ...["101 Switching Protocols", "102 Processing", "103 Early Hints", "100 Continue", "999 Odd"],
].map((status) => `HTTP/1.1 ${status}`);

/** The answer between two streams: a plain 200. */
export const PLAIN_ANSWER: Stream = {
  ...{ head: 0, connections: 1, framing: "length", pieceBytes: 1, extensionBytes: 0, headerLines: 0, headerBytes: 1 },
  ...{ interim: 0, bodyBytes: 0, filler: "letters", trailerLines: 0, messages: 1, ends: true, reads: "at once" },
  ...{ writeBytes: 1_500, pauseMs: 0, leavesAfterMs: 60_000 },
};
