/** The routes for a browser's library, but for those that take calls. */
import type { FastifyInstance } from "fastify";
import { ACCEPTED } from "../answer/answer.ts";
import { sendAnswer, sendJson } from "../http/reply.ts";
import type { Authenticator } from "../key/authenticate.ts";

/** Seconds that a browser may keep the settings. */
const SETTINGS_MAX_AGE_S = 60;

export interface BrowserRouteParts {
  readonly authenticator: Authenticator;
}

export function addBrowserRoutes(app: FastifyInstance, { authenticator }: BrowserRouteParts): void {
  // The library never starts without these settings. It takes no less.
  app.get<{ Params: { writeKey: string } }>("/v1/projects/:writeKey/settings", async (request, reply) => {
    const { writeKey } = request.params;
    const authentication = await authenticator.authenticate([writeKey]);
    if ("refusal" in authentication) return sendAnswer(request, reply, authentication.refusal);
    reply.header("cache-control", `public, max-age=${SETTINGS_MAX_AGE_S}`);
    return sendJson(request, reply, JSON.stringify({ integrations: { "Segment.io": { apiKey: writeKey } } }));
  });

  // The library's measurements of itself are accepted and dropped.
  app.post("/v1/m", (request, reply) => sendAnswer(request, reply, ACCEPTED));
}
