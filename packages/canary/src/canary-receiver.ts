/**
 * The door at which the canary's events come back. Anybody may knock: control's address is not secret.
 *
 * CR1  Only a body that is signed with the secret of the canary's destination counts; all others are answered 401.
 * CR2  A body has at most the bytes of any stranger's, which the server bounds (SG1 and SG2 of stranger-bodies.ts).
 */
import { timingSafeEqual } from "node:crypto";
import { Problem } from "@posthaste/http-kit/problem";
import { createBodySigner } from "@posthaste/webhook/sign";
import type { FastifyInstance } from "fastify";

export const CANARY_PATH = "/canary";

export interface CanaryDoor {
  /** The secret of the canary's destination; null while it is not known. */
  readonly secret: () => string | null;
  readonly arrived: (messageId: string) => void;
}

/** Adds the door before the server listens. */
export function serveCanary(server: FastifyInstance, { secret, arrived }: CanaryDoor): void {
  server.register((scope, _, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, parsed) => {
      parsed(null, body);
    });
    scope.post(CANARY_PATH, async ({ headers, body }, reply) => {
      const messageId = Buffer.isBuffer(body) ? readCanary(body, headers["x-signature"], secret()) : null;
      if (messageId === null) throw new Problem("unauthorized", "this is no signed event of the canary");
      arrived(messageId);
      return reply.code(204).send();
    });
    done();
  });
}

/** The message id in the body; null for a body that is not signed with the secret, or is none of a canary. */
function readCanary(body: Buffer, signature: string | string[] | undefined, secret: string | null): string | null {
  if (secret === null || typeof signature !== "string") return null;
  const [given, right] = [signature, createBodySigner(secret)(body)].map((text) => Buffer.from(text));
  if (given === undefined || right === undefined) return null;
  if (given.length !== right.length || !timingSafeEqual(given, right)) return null;
  const found = /"anonymousId":"(canary-[0-9a-f-]{36})"/.exec(body.toString("utf8"));
  return found?.[1] ?? null;
}
