/** Answers to input that never became a request: broken HTTP, endless headers, senders that are too slow. */
import type { Socket } from "node:net";
import { HEADER_LINES_WORDS, TOO_MANY_HEADER_LINES } from "@posthaste/runtime/header-lines";
import { BODY_CUT_TOO_SMALL, CUT_TOO_SMALL_WORDS } from "@posthaste/runtime/wire-pieces";

interface RawRefusal {
  readonly status: string;
  readonly code: string;
  readonly message: string;
}

const BROKEN: RawRefusal = {
  status: "400 Bad Request",
  code: "malformed_request",
  message: "This is no HTTP/1.1 request.",
};

const BY_ERROR_CODE: Readonly<Record<string, RawRefusal>> = {
  HPE_HEADER_OVERFLOW: {
    status: "431 Request Header Fields Too Large",
    code: "headers_too_large",
    message: "The headers of the request are too large; send fewer.",
  },
  [TOO_MANY_HEADER_LINES]: {
    status: "431 Request Header Fields Too Large",
    code: "headers_too_large",
    message: HEADER_LINES_WORDS,
  },
  [BODY_CUT_TOO_SMALL]: { status: "400 Bad Request", code: "body_cut_too_small", message: CUT_TOO_SMALL_WORDS },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: "408 Request Timeout",
    code: "request_timeout",
    message: "The request did not arrive in time; send it again.",
  },
};

/** Writes the answer to the socket and closes it. A socket that cannot be written is destroyed. */
export function answerClientError(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, code, message } = BY_ERROR_CODE[error.code ?? ""] ?? BROKEN;
  const body = JSON.stringify({ code, message });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
