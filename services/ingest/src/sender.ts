/**
 * Whose a request is, found before anything is made of its body.
 *
 * S1  A key in the header or the address is looked at before the body is read, let alone inflated.
 * S2  A key in the body alone is looked at in the body's bytes, before they are parsed.
 * S3  Whoever waits for the table of sources holds the body as it was sent, at the most.
 */
import type { Source } from "@posthaste/core/config/source";
import type { FastifyRequest } from "fastify";
import { malformed, type Refusal } from "./answer.ts";
import { type Authentication, type Authenticator, writeKeyFromHeader } from "./authenticate.ts";
import { findWriteKeys } from "./body-key.ts";
import { decompress } from "./decompress.ts";
import type { SentBody } from "./read-body.ts";

/** Null where only the body can say. */
export function keyOutsideOfBody(request: FastifyRequest): string | null {
  return writeKeyFromHeader(request.headers.authorization) ?? writeKeyFromQuery(request);
}

/** A body after decompression, or why there is none. */
export type OpenedBody = { readonly content: Buffer } | { readonly refusal: Refusal };

/** Whose a body is that names a key which is known (S2). It need not be the key that counts, and what was inflated for it is not kept (S3). */
export function sourceInBody(body: SentBody, authenticator: Authenticator): Authentication | Promise<Authentication> {
  const opened = open(body);
  return "refusal" in opened ? opened : authenticator.authenticate(findWriteKeys(opened.content));
}

/** A body's content; the one place where one is inflated. */
export function open({ bytes, encoding }: SentBody): OpenedBody {
  if (bytes === null) return { refusal: GONE };
  const content = decompress(bytes, encoding);
  return Buffer.isBuffer(content) ? { content } : { refusal: content };
}

/** Nobody hears it. */
export const GONE = malformed("malformed_request", "The sender of the request is gone.");

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
