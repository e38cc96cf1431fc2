/** The sample of a request that was refused as a whole: enough for its sender to find the request. */
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { RefusedRequest } from "@posthaste/core/call/source-activity";
import { shortName } from "@posthaste/core/routing/short-name";
import type { Refusal } from "../answer/answer.ts";
import { stringAfterName } from "../body/string-member.ts";

/** The most message ids of one sample; a batch has more. */
const MAX_MESSAGE_IDS = 20;
/** The most characters of a path; the longest path of ingest has half as many. */
const MAX_PATH_LENGTH = 128;
const MAX_USER_AGENT_LENGTH = 256;
/** An unknown key's first characters, by which a person knows it again, and digits of its hash. */
const SHOWN_CHARACTERS = 4;
const HASH_DIGITS = 16;

const MESSAGE_ID = Buffer.from('"messageId"');

/** The known fields of a refused request, as far as it was read. */
export interface RefusedContent {
  readonly request: Pick<IncomingMessage, "url" | "headers">;
  /** The body as its sender wrote it; null where it was not read, or not inflated. */
  readonly content: Buffer | null;
  /** The bytes of the body as it was sent; null where it was not read. */
  readonly sentBytes: number | null;
  /** The key of the request, when no source has it; else null. */
  readonly unknownKey: string | null;
}

/** Makes the sample, which keeps nothing of the request alive: each text is a copy, and short. */
export function toRefusedRequest(
  { status, code }: Pick<Refusal, "status" | "code">,
  { request, content, sentBytes, unknownKey }: RefusedContent,
  atMs: number,
): RefusedRequest {
  const { url = "", headers } = request;
  const userAgent = headers["user-agent"];
  return {
    ...{ atMs, status, code },
    path: copyOf((url.split("?", 1)[0] ?? "").slice(0, MAX_PATH_LENGTH)),
    bytes: sentBytes ?? announcedBytes(headers["content-length"]),
    userAgent: userAgent === undefined ? null : copyOf(userAgent.slice(0, MAX_USER_AGENT_LENGTH)),
    messageIds: content === null ? [] : findMessageIds(content),
    unknownKey: unknownKey === null ? null : shownKey(unknownKey),
  };
}

/** The first message ids in a body, found in its bytes. */
export function findMessageIds(body: Buffer): readonly string[] {
  const ids: string[] = [];
  let places = 0;
  for (let at = body.indexOf(MESSAGE_ID); at !== -1 && places < MAX_MESSAGE_IDS; places++) {
    const id = stringAfterName(body, at + MESSAGE_ID.length);
    if (id !== null && id !== "") ids.push(copyOf(shortName(id)));
    at = body.indexOf(MESSAGE_ID, at + MESSAGE_ID.length);
  }
  return ids;
}

function shownKey(key: string): string {
  const digits = createHash("sha256").update(key).digest("hex").slice(0, HASH_DIGITS);
  return `${copyOf(key.slice(0, SHOWN_CHARACTERS))}… sha256:${digits}`;
}

function announcedBytes(contentLength: string | undefined): number | null {
  const bytes = Number(contentLength ?? Number.NaN);
  return Number.isSafeInteger(bytes) && bytes >= 0 ? bytes : null;
}

/** Copies the text, since a part of a longer one would keep all of that in memory. */
function copyOf(text: string): string {
  return Buffer.from(text).toString();
}
