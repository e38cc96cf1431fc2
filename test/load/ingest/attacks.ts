/**
 * Attacks on ingest, as the bytes that an attacker sends. None needs to know more than a write key, which stands in
 * every page.
 */
import { gzipSync } from "node:zlib";

/**
 * How a connection is used: a request at a time and its answer read, a body that stops just before its end, answers
 * that nobody reads.
 */
type Manner = "asks" | "stalls" | "never reads";

export interface Attack {
  readonly name: string;
  readonly manner: Manner;
  /**
   * Makes the common part of its requests, and returns a function that makes each; `serial` stands in a key that was
   * never sent before.
   */
  readonly prepare: () => (serial: number) => Buffer;
  /** Sent before the steady rate begins, as fast as it goes. */
  readonly bytesAtOnce: number;
}

/** The source whose key an attacker has. */
export const ATTACKER_KEY = "wk-attacker";

const HALF_MEGABYTE = 500_000;

const CALL = `{"type":"track","userId":"u","event":"E"}`;
const HONEST_CALL = JSON.stringify({
  type: "track",
  userId: "user-1234",
  event: "Order Completed",
  properties: { revenue: 39.95, note: "x".repeat(900) },
});

export const ATTACKS: readonly Attack[] = [
  asking("1. a tree of 11 MB in 600 bytes, key unknown", () => {
    const rest = gzipSync(`"properties":{"a":${tree(HALF_MEGABYTE)}}}`);
    // Gzip may be written in pieces, so that the tree is compressed once.
    return (serial) => post("/v1/track", Buffer.concat([gzipSync(`{"writeKey":"no-${serial}",`), rest]), null);
  }),
  batches("1. the same as a batch's calls, key known", () => `{"batch":${tree(HALF_MEGABYTE)}}`),
  batches("1. the same beside a batch's calls, key known", () => `{"batch":[],"x":${tree(HALF_MEGABYTE)}}`),
  batches("1. keys with escapes in 1 KB, key known", () => `{"batch":[],"x":{${repeat(37_000, `"\\u0061":0`)}}}`),
  batches(
    "2. a context of 81,000 numbers, 2,500 calls",
    () => `{"batch":[${repeat(2_500, CALL)}],"context":{"n":[${repeat(81_000, "0")}]}}`,
  ),
  batches(
    "2. a context of 32 KB, calls with one of their own",
    () => `{"batch":[${repeat(2_500, `${CALL.slice(0, -1)},"context":{"a":1}}`)}],"context":${keys(32_000)}}`,
  ),
  asking("3. 14 KB of query, key unknown", () => {
    const names = Array.from({ length: 900 }, (_, n) => `properties.p${n}=1`);
    const query = names.join("&").slice(0, 14_000);
    return (serial) =>
      Buffer.from(`GET /pixel/v1/track?writeKey=no-${serial}&${query} HTTP/1.1\r\nHost: ingest\r\n\r\n`);
  }),
  {
    name: "4. 67 MB of bodies that stop before their end, then more",
    manner: "stalls",
    bytesAtOnce: 67_130_000,
    prepare: () => {
      const stalled = (bytes: number) => post("/v1/track", Buffer.alloc(bytes, " "), null, "identity");
      const large = stalled(HALF_MEGABYTE);
      // 64 MB are left full to the last kilobyte, where no more large ones fit.
      const last = [stalled(100_000), ...Array<Buffer>(30).fill(stalled(1_000))];
      const further = stalled(20_000);
      return (serial) => (serial < 134 ? large : (last[serial - 134] ?? further));
    },
  },
  {
    name: "5. answers that nobody reads",
    manner: "never reads",
    bytesAtOnce: 0,
    prepare: () => {
      const requests = Buffer.from("GET /openapi.json HTTP/1.1\r\nHost: ingest\r\n\r\n".repeat(400));
      return () => requests;
    },
  },
  batches("6. a source that sends all it can, 400 calls a batch", () => `{"batch":[${repeat(400, HONEST_CALL)}]}`),
  batches("6. the same, 11,000 small calls a batch", () => `{"batch":[${repeat(11_000, CALL)}]}`),
];

function asking(name: string, prepare: Attack["prepare"]): Attack {
  return { name, manner: "asks", bytesAtOnce: 0, prepare };
}

/** One body again and again, by a source that is known. */
function batches(name: string, body: () => string): Attack {
  return asking(name, () => {
    const request = post("/v1/batch", gzipSync(body()), ATTACKER_KEY);
    return () => request;
  });
}

function post(path: string, body: Buffer, key: string | null, encoding = "gzip"): Buffer {
  const head = [
    `POST ${path} HTTP/1.1`,
    "Host: ingest",
    ...(key === null ? [] : [`Authorization: Basic ${btoa(`${key}:`)}`]),
    `Content-Encoding: ${encoding}`,
    `Content-Length: ${body.length}`,
    "",
    "",
  ];
  return Buffer.concat([Buffer.from(head.join("\r\n")), body]);
}

function tree(bytes: number): string {
  return `[${repeat(bytes / 3, "{}")}]`;
}

function keys(bytes: number): string {
  return `{${Array.from({ length: bytes / 8 }, (_, n) => `"${n.toString(36)}":0`).join(",")}}`;
}

function repeat(times: number, item: string): string {
  return Array<string>(Math.floor(times)).fill(item).join(",");
}
