/** The HTTP gateway without its brokers: a test passes a producer of its own. */
import { randomUUID } from "node:crypto";
import type { TopicNames } from "@posthaste/contracts/topics";
import type { SourceActivity } from "@posthaste/core/call/source-activity";
import type { FastifyInstance } from "fastify";
import type { Registry } from "prom-client";
import { type AcceptParts, createAccept } from "./accept/accept.ts";
import { type AdmissionParts, createAdmission } from "./accept/admission.ts";
import { ActivityLog } from "./activity/activity-log.ts";
import { ACCEPTED } from "./answer/answer.ts";
import { createLateRefusals } from "./answer/late-refusals.ts";
import { createBodyOpener } from "./body/decompress.ts";
import { type BodyReader, createBodyReader } from "./body/read-body.ts";
import { createActiveRequests } from "./fairness/active-requests.ts";
import { createAnswerTurns } from "./fairness/answer-turns.ts";
import { type Amount, createRateLimit } from "./fairness/rate-limit.ts";
import { createWorkQueue } from "./fairness/work-queue.ts";
import { createClientAddresses, requestAddress } from "./http/client-address.ts";
import { sendAnswer, sendJson } from "./http/reply.ts";
import { type IngestServer, startServer } from "./http/server.ts";
import { type Authenticator, createAuthenticator } from "./key/authenticate.ts";
import { ConnectionKeys } from "./key/connection-keys.ts";
import type { WriteKeys } from "./key/write-keys.ts";
import { READY_FULL_MS, type ReadTimeouts } from "./limits.ts";
import { createIngestMetrics, gaugeBodyBytes } from "./metrics.ts";
import { Refusals } from "./request/refusals.ts";
import { createTakeCalls } from "./request/take-calls.ts";
import { addCallRoutes, takeDirectly } from "./routes/calls.ts";
import { createOpenApiDocument } from "./routes/openapi.ts";
import { addPixelRoutes } from "./routes/pixel.ts";

/** Seconds that a browser may keep the settings. */
const SETTINGS_MAX_AGE_S = 60;

export interface GatewayOptions
  extends Omit<AcceptParts, "admission" | "authenticator" | "metrics" | "activity" | "names">,
    Omit<AdmissionParts, "rateLimit" | "work" | "activeRequests" | "producer" | "names"> {
  readonly producer: AcceptParts["producer"] & AdmissionParts["producer"];
  readonly names: Pick<TopicNames, "events" | "rejectedCalls" | "sourceActivity">;
  readonly encodeSourceActivity: (activity: SourceActivity) => Buffer;
  /** The time between two records of a source's activity, in place of ten seconds. */
  readonly activityIntervalMs?: number;
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly trustedProxies: readonly string[];
  /** How much one source may send in a second. */
  readonly perSource: Amount;
  readonly timeouts?: ReadTimeouts;
  /** The most bytes that the bodies of all requests hold together, in place of 64 MB. */
  readonly maxHeldBodyBytes?: number;
  readonly writeKeys: WriteKeys;
  /** Reads the table of sources to its end of this moment; rejects when that takes longer than `timeoutMs`. */
  readonly refreshSources: (timeoutMs: number) => Promise<void>;
  readonly registry: Registry;
}

export interface Gateway extends IngestServer {
  /** The bodies that are being read or answered. */
  readonly bodies: Pick<BodyReader, "heldBytes">;
  /** Whether more bodies may be held. */
  readonly readiness: () => { readonly bodies: true | string };
}

/** Starts the gateway; resolves when it listens. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { writeKeys, refreshSources, clock, perSource, registry, log, producer, names } = options;
  const metrics = createIngestMetrics(registry);
  const authenticator = createAuthenticator({ writeKeys, refresh: refreshSources, clock, log });
  const { monotonicMs } = clock;
  const rateLimit = createRateLimit({ perSecond: perSource, monotonicMs });
  const work = createWorkQueue(monotonicMs);
  const activeRequests = createActiveRequests({
    isBusy: () => work.isBusy(),
    recentMs: (source) => work.recentMs(source),
    monotonicMs,
  });
  const admission = createAdmission({ ...options, rateLimit, work, activeRequests });
  const activity = new ActivityLog({
    ...{ producer, clock, log, topic: names.sourceActivity, instance: randomUUID() },
    ...{ encode: options.encodeSourceActivity, flushIntervalMs: options.activityIntervalMs },
  });
  const accept = createAccept({ ...options, admission, authenticator, metrics, activity });
  const lateRefusals = createLateRefusals(monotonicMs);
  const opener = createBodyOpener();
  const refusals = new Refusals({ metrics, activity, lateRefusals, opener, monotonicMs });
  const bodies = createBodyReader({ maxHeldBytes: options.maxHeldBodyBytes, monotonicMs });
  gaugeBodyBytes(registry, bodies);
  const addresses = createClientAddresses(options.trustedProxies);
  const path = { admission, authenticator, addresses, work, accept, refusals };
  const connectionKeys = new ConnectionKeys(writeKeys);
  const takeCalls = createTakeCalls({ ...path, connectionKeys, clock, activeRequests, bodies, opener });
  const answerTurns = createAnswerTurns(monotonicMs);
  const server = await startServer({
    host: options.host,
    port: options.port,
    bodies,
    answerDirectly: (request, response) => takeDirectly(request, response, takeCalls),
    answerTurns,
    addressOf: (request) => requestAddress(request, addresses),
    timeouts: options.timeouts,
    connected: () => work.connected(),
    log,
    countFault: (refusal) => refusals.count(refusal),
    routes: (app) => {
      addCallRoutes(app, { takeCalls, answerTurns });
      addBrowserRoutes(app, { authenticator });
      addPixelRoutes(app, { ...path, answerTurns });
      const document = createOpenApiDocument("1.0.0");
      app.get("/openapi.json", (request, reply) => sendJson(request, reply, document));
    },
  });
  return {
    ...server,
    bodies,
    readiness: () => ({ bodies: bodiesReadiness(bodies) }),
    close: async () => {
      await server.close();
      activity.close();
    },
  };
}

function bodiesReadiness(bodies: Pick<BodyReader, "heldBytes" | "fullForMs">): true | string {
  const fullForMs = bodies.fullForMs();
  if (fullForMs < READY_FULL_MS) return true;
  return `no room for ${Math.round(fullForMs)} ms: ${bodies.heldBytes} bytes are held, and more is refused`;
}

interface BrowserRouteParts {
  readonly authenticator: Authenticator;
}

/** The routes for a browser's library, but for those that take calls. */
function addBrowserRoutes(app: FastifyInstance, { authenticator }: BrowserRouteParts): void {
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
