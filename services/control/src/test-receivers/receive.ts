/**
 * Where test receivers are reached: whoever knows the id may send, as to any webhook's URL. Whatever it is, it is kept
 * as bytes and nothing is made of it.
 */
import type { FastifyInstance } from "fastify";
import { Problem } from "../http/problem.ts";
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
      // Before the body is read.
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
