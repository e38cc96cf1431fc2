/**
 * The path at which test receivers take requests. Anybody who knows a receiver's id may send to it, as to any webhook's
 * URL. Control keeps the body as bytes and does not parse it.
 */

import { Problem } from "@posthaste/http-kit/problem";
import type { FastifyInstance } from "fastify";
import type { TestReceivers } from "./test-receivers.ts";

const MAX_BODY_BYTES = 1024 * 1024;

/** Adds `/receive/{id}`, for every method, before the server listens. */
export function serveReceivers(server: FastifyInstance, receivers: TestReceivers): void {
  server.register((scope, _, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: MAX_BODY_BYTES }, (_request, body, parsed) => {
      parsed(null, body);
    });
    scope.all<{ Params: { id: string } }>("/receive/:id", {
      // This runs before fastify reads the body.
      onRequest: async ({ params }) => {
        if (!receivers.has(params.id)) throw new Problem("not_found", `there is no test receiver ${params.id}`);
      },
      handler: async (request, reply) => {
        const gone = new AbortController();
        reply.raw.once("close", () => gone.abort());
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const arrived = { method: request.method, headers: request.headers, body };
        const status = await receivers.receive(request.params.id, arrived, gone.signal);
        return reply.code(status ?? 404).send();
      },
    });
    done();
  });
}
