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
import { type Authenticator, writeKeyFromHeader } from "./authenticate.ts";
import { findWriteKeys } from "./body-key.ts";
import { decompress } from "./decompress.ts";
import type { SentBody } from "./read-body.ts";

/** Null where only the body can say. */
export function keyOutsideOfBody(request: FastifyRequest): string | null {
  return writeKeyFromHeader(request.headers.authorization) ?? writeKeyFromQuery(request);
}

/** A body after decompression, or why there is none. */
export type OpenedBody = { readonly content: Buffer } | { readonly refusal: Refusal };

/** Whose a body is that names a key which is known (S2), and its content where nothing was waited for; it need not be the key that counts. */
export type BodySource = { readonly source: Source; readonly content?: Buffer } | { readonly refusal: Refusal };

export function sourceInBody(body: SentBody, authenticator: Authenticator): BodySource | Promise<BodySource> {
  const opened = open(body);
  if ("refusal" in opened) return opened;
  const authentication = authenticator.authenticate(findWriteKeys(opened.content));
  // S3: what waits does not get the content, so that it does not keep it.
  if (authentication instanceof Promise || "refusal" in authentication) return authentication;
  return { source: authentication.source, content: opened.content };
}

/** A body's content; the one place where one is inflated. */
export function open(body: SentBody): OpenedBody {
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
