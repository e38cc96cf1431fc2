/** From a form to the bytes on the wire. */
import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib";
import { toRequestBytes } from "../raw-request.ts";
import { WRITE_KEY } from "../test-gateway.ts";
import { fill } from "./fillers.ts";
import { type Form, isBatch, type Place } from "./form.ts";

/** A little more than a request may have. */
const MOST_BYTES = 511_900;
/** Of an address and of all headers together, so that neither is refused as too large before anything looks at it. */
const MOST_HEAD_BYTES = 14_000;

const CALL_PLACES: readonly Place[] = [
  "properties",
  "traits",
  "context",
  "integrations",
  "timestamp",
  "messageId",
  "userId",
  "event",
];

/** Where anything but an object is refused before it costs much. */
const OBJECT_PLACES: readonly Place[] = [
  "properties",
  "traits",
  "context",
  "integrations",
  "shared context",
  "shared integrations",
];

/** The request. `serial` makes a key that nobody has one that was never sent before. */
export function toRequest(form: Form, serial: number): Buffer {
  const key = keyOf(form, serial);
  const body = bodyOf(form, key);
  const isGet = form.path.includes("pixel") || form.path === "/v1/projects";
  const query = queryOf(form, key, body);
  const room = MOST_HEAD_BYTES - query.length;
  const headers = [...keyHeader(form, key), ...fillingHeaders(form, room)];
  const path = form.path === "/v1/projects" ? `/v1/projects/${encodeURIComponent(key)}/settings` : form.path;
  if (isGet) return toRequestBytes("GET", path + query, headers);
  if (form.encoding !== "identity") headers.push(`Content-Encoding: ${form.encoding}`);
  return toRequestBytes("POST", path + query, headers, compress(form.encoding, body));
}

function keyOf({ key }: Form, serial: number): string {
  if (key === "unknown") return `no-${serial}`;
  if (key === "long") return `no-${serial}${"k".repeat(900)}`;
  return WRITE_KEY;
}

function keyHeader({ keyAt }: Form, key: string): string[] {
  return keyAt === "header" ? [`Authorization: Basic ${btoa(`${key}:`)}`] : [];
}

function fillingHeaders({ headers, headerBytes }: Form, room: number): string[] {
  const bytes = Math.min(headerBytes, room);
  const count = Math.min(headers, Math.floor(bytes / 8));
  return Array.from({ length: count }, (_, n) => `X${n}: ${"v".repeat(Math.max(0, bytes / count - 8))}`);
}

/** The parameters, or the call itself where the path takes it so. */
function queryOf(form: Form, key: string, body: string): string {
  const parts = form.keyAt === "query" ? [`writeKey=${encodeURIComponent(key)}`] : [];
  if (form.path.startsWith("/v1/pixel")) {
    parts.push(`data=${encodeURIComponent(Buffer.from(body.slice(0, 9_000)).toString("base64"))}`);
  } else if (form.path === "/pixel/v1/track") {
    parts.push("userId=u", "event=E");
  }
  let length = 0;
  for (let n = 0; n < form.parameters && form.parameters > 1 && length < MOST_HEAD_BYTES; n++) {
    const part = parameter(form, n);
    length += part.length + 1;
    if (length < MOST_HEAD_BYTES) parts.push(part);
  }
  const query = parts.join("&");
  return query === "" ? "" : `?${query.slice(0, MOST_HEAD_BYTES)}`;
}

function parameter({ names }: Form, n: number): string {
  switch (names) {
    case "flat":
      return `p${n}=1`;
    case "dotted":
      return `properties.p${n}=1`;
    case "deep":
      return `a.b.c.d.e.f.g.h.p${n}=1`;
    case "escaped":
      return `%70${n}=%31`;
    case "plus":
      return `p+${n}=+`;
  }
}

function bodyOf(form: Form, key: string): string {
  const members =
    form.keyAt === "body" ? [`"writeKey":"${form.key === "written with escapes" ? escaped(key) : key}"`] : [];
  const inCall = fillingsOf(form, CALL_PLACES);
  const rest = form.fillings
    .filter(({ place }) => place === "rest")
    .map((each, n) => `"r${n}":${fill(each.filler, each.bytes)}`);
  if (!isBatch(form)) return `{${[...members, ...callMembers(form, inCall), ...rest].join(",")}}`.slice(0, MOST_BYTES);
  const beside = [
    ["shared context", "context"],
    ["shared integrations", "integrations"],
    ["sentAt", "sentAt"],
    ["beside", "beside"],
  ] as const;
  for (const [place, name] of beside) {
    const value = fillingsOf(form, [place]).get(place);
    if (value !== undefined) members.push(`"${name}":${value}`);
  }
  const head = members.join(",");
  const call = brokenCall(form, [...callMembers(form, inCall), ...rest]);
  const calls =
    fillingsOf(form, ["calls"]).get("calls") ?? `[${repeated(call, form.calls, MOST_BYTES - head.length - 20)}]`;
  return `{"batch":${calls}${head === "" ? "" : `,${head}`}}`;
}

function fillingsOf({ fillings }: Form, places: readonly Place[]): Map<Place, string> {
  const found = new Map<Place, string>();
  for (const { place, filler, bytes } of fillings) {
    if (!places.includes(place)) continue;
    const value = fill(filler, bytes);
    found.set(place, OBJECT_PLACES.includes(place) && !value.startsWith("{") ? `{"a":${value}}` : value);
  }
  return found;
}

function callMembers(form: Form, filled: ReadonlyMap<Place, string>): string[] {
  const type = form.path === "/v1/identify" ? "identify" : form.path === "/v1/alias" ? "alias" : "track";
  const plain: readonly (readonly [Place, string])[] = [
    ["userId", `"u"`],
    ["event", `"E"`],
    ...(form.ownObjects
      ? ([
          ["context", `{"a":1}`],
          ["integrations", `{"a":true}`],
        ] as const)
      : []),
  ];
  const fields = new Map<Place, string>([...plain, ...filled]);
  if (form.fault === "no user") fields.delete("userId");
  const members = form.fault === "no type" ? [] : [`"type":"${type}"`];
  return [...members, ...[...fields].map(([place, value]) => `"${place}":${value}`)];
}

function brokenCall({ fault }: Form, members: readonly string[]): string {
  if (fault === "no object") return "0";
  const deep = fault === "too deep" ? [`"deep":${"[".repeat(120)}${"]".repeat(120)}`] : [];
  return `{${[...members, ...deep].join(",")}}`;
}

function repeated(call: string, times: number, most: number): string {
  const count = Math.max(1, Math.min(times, Math.floor(most / (call.length + 1))));
  return `${`${call},`.repeat(count - 1)}${call}`;
}

function compress(encoding: Form["encoding"], body: string): Buffer {
  const bytes = Buffer.from(body);
  switch (encoding) {
    case "identity":
      return bytes;
    case "gzip":
      return gzipSync(bytes, { level: 9 });
    case "deflate":
      return deflateSync(bytes, { level: 9 });
    case "br":
      return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
  }
}

function escaped(text: string): string {
  return [...text].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
}
