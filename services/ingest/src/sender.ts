/**
 * Whose a request is, found before anything is made of its body.
 *
 * S1  A key in the header or the address is looked at before the body is read, let alone inflated.
 * S2  A key in the body alone is looked at in the body's bytes, before they are parsed.
 * S3  Whoever waits for the table of sources holds the body as it was sent, at the most.
 */
import type { Source } from "@posthaste/core/source";
import type { FastifyRequest } from "fastify";
import type { Refusal } from "./answer.ts";
import { type Authentication, type Authenticator, writeKeyFromHeader } from "./authenticate.ts";
import { findWriteKeys } from "./body-key.ts";
import { decompress } from "./decompress.ts";
import type { SentBody } from "./read-body.ts";

/** Null where only the body can say. */
export function keyOutsideOfBody(request: FastifyRequest): string | null {
  return writeKeyFromHeader(request.headers.authorization) ?? writeKeyFromQuery(request);
}

/** A body after decompression, of somebody whose key is known; or why it is not taken. */
export type KnownBody = { readonly content: Buffer } | { readonly refusal: Refusal };

/** The content of a body that names a key which is known (S2); it need not be the key that counts. */
export function openWithKeyInBody(body: SentBody, authenticator: Authenticator): KnownBody | Promise<KnownBody> {
  const opened = open(body);
  if ("refusal" in opened) return opened;
  const authentication = authenticator.authenticate(findWriteKeys(opened.content));
  if (!(authentication instanceof Promise)) return "refusal" in authentication ? authentication : opened;
  return openAfter(authentication, body);
}

/** S3: a function of its own, so that what was inflated before is not kept by the one that waits. */
async function openAfter(authentication: Promise<Authentication>, body: SentBody): Promise<KnownBody> {
  const found = await authentication;
  return "refusal" in found ? found : open(body);
}

/** A body's content; the one place where one is inflated. */
export function open(body: SentBody): KnownBody {
  const content = decompress(body.bytes, body.encoding);
  return Buffer.isBuffer(content) ? { content } : { refusal: content };
}

/** Beacons and pixels can set no header. */
function writeKeyFromQuery(request: FastifyRequest): string | null {
  const { writeKey } = request.query as Readonly<Record<string, unknown>>;
  return typeof writeKey === "string" && writeKey !== "" ? writeKey : null;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Whose it is, where the header or the address says so. */
    source: Source | null;
  }
}
