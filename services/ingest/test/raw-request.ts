/** HTTP as bytes on a socket, so that a test sends exactly a client's bytes. */
import { connect, type Socket } from "node:net";

export interface RawResponse {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request as it stands on the wire; Content-Length is added where there is a body. */
export function toRequestBytes(
  method: string,
  path: string,
  headers: readonly string[],
  body?: string | Buffer,
): Buffer {
  const content = body === undefined ? Buffer.alloc(0) : Buffer.from(body);
  const lengths = body === undefined ? [] : [`Content-Length: ${content.length}`];
  const head = [`${method} ${path} HTTP/1.1`, "Host: ingest.test", ...headers, ...lengths, "", ""].join("\r\n");
  return Buffer.concat([Buffer.from(head), content]);
}

/** Opens a socket to the gateway at `url`. */
export function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) }, () => resolve(socket));
    socket.once("error", reject);
  });
}

/** Sends bytes on a socket of their own and answers the first response, or null when the server closed without one. */
export async function sendRaw(url: string, bytes: Buffer): Promise<RawResponse | null> {
  const socket = await openSocket(url);
  socket.write(bytes);
  try {
    return await readResponse(socket);
  } finally {
    socket.destroy();
  }
}

/** Reads one response with a Content-Length (or none, for 204); null when the socket ended before it. */
export function readResponse(socket: Socket): Promise<RawResponse | null> {
  return new Promise((resolve) => {
    let received = Buffer.alloc(0);
    const look = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const response = parseResponse(received);
      if (response !== null) settle(response);
    };
    const end = () => settle(null);
    const settle = (response: RawResponse | null) => {
      socket.off("data", look).off("close", end).off("error", end);
      resolve(response);
    };
    socket.on("data", look);
    socket.once("close", end);
    socket.once("error", end);
  });
}

function parseResponse(bytes: Buffer): RawResponse | null {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return null;
  const [statusLine = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const length = Number(headers["content-length"] ?? 0);
  const body = bytes.subarray(end + 4);
  if (body.length < length) return null;
  return { status: Number(statusLine.split(" ")[1]), headers, body: body.subarray(0, length).toString() };
}
