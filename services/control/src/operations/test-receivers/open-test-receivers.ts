/** Puts together the test receivers, which are off except for local use. */
import type { ConfigStore } from "@posthaste/configuration/config-store";
import type { Destination } from "@posthaste/core/config/destination";
import type { Clock } from "@posthaste/core/time";
import { Problem } from "@posthaste/http-kit/problem";
import type { Route } from "@posthaste/http-kit/route";
import type { FastifyInstance } from "fastify";
import { testReceiverRoutes } from "./test-receiver-routes.ts";
import { TestReceivers } from "./test-receivers.ts";

const MAX_BODY_BYTES = 1024 * 1024;

export interface OpenTestReceiversOptions {
  readonly isOn: boolean;
  readonly destinations: Pick<ConfigStore<Destination>, "get" | "find">;
  /** Control's URL on this machine. */
  readonly url: () => string;
  readonly clock: Pick<Clock, "nowMs">;
}

export interface OpenTestReceivers {
  readonly routes: readonly Route[];
  readonly addPaths: (server: FastifyInstance) => void;
}

export function openTestReceivers({ isOn, destinations, url, clock }: OpenTestReceiversOptions): OpenTestReceivers {
  const secretsOf = (id: string) => destinations.get(id)?.secrets;
  const receivers = isOn ? new TestReceivers({ secretsOf, nowMs: clock.nowMs }) : null;
  return {
    routes: testReceiverRoutes({ receivers, url, destinations }),
    addPaths: (server) => {
      if (receivers !== null) serveReceivers(server, receivers);
    },
  };
}

/**
 * Adds `/receive/{id}`, for every method, before the server listens. Anybody who knows a receiver's id may send to it,
 * as to any webhook's URL. Control keeps the body as bytes and does not parse it.
 */
function serveReceivers(server: FastifyInstance, receivers: TestReceivers): void {
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
