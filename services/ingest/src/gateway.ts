/** The gateway over HTTP, with the brokers behind it as arguments: a test gives it a producer of its own. */
import type { Registry } from "prom-client";
import { type AcceptParts, createAccept } from "./accept.ts";
import { createAuthenticator } from "./authenticate.ts";
import { createClientAddresses, requestAddress } from "./client-address.ts";
import { createLateRefusals } from "./late-refusals.ts";
import { READY_FULL_MS, type ReadTimeouts } from "./limits.ts";
import { createIngestMetrics, gaugeBodyBytes } from "./metrics.ts";
import { createOpenApiDocument } from "./openapi.ts";
import { type Amount, createRateLimit } from "./rate-limit.ts";
import { type BodyReader, createBodyReader } from "./read-body.ts";
import { sendJson } from "./reply.ts";
import { addBrowserRoutes } from "./routes/browser.ts";
import { addCallRoutes } from "./routes/calls.ts";
import { addPixelRoutes } from "./routes/pixel.ts";
import { type IngestServer, startServer } from "./server.ts";
import { createUnderWay } from "./under-way.ts";
import { createWorkQueue } from "./work-queue.ts";
import type { WriteKeys } from "./write-keys.ts";

export interface GatewayOptions
  extends Omit<AcceptParts, "authenticator" | "rateLimit" | "work" | "underWay" | "metrics"> {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly trustedProxies: readonly string[];
  /** What one source may send in a second. */
  readonly perSource: Amount;
  readonly timeouts?: ReadTimeouts;
  /** What the bodies of all requests together may hold, instead of 64 MB. */
  readonly maxHeldBodyBytes?: number;
  readonly writeKeys: WriteKeys;
  /** Reads the table of sources to its present end; rejects when that takes longer than `timeoutMs`. */
  readonly refreshSources: (timeoutMs: number) => Promise<void>;
  readonly registry: Registry;
}

export interface Gateway extends IngestServer {
  /** The bodies that are being read or answered. */
  readonly bodies: Pick<BodyReader, "heldBytes">;
  /** Whether there is room for more bodies. */
  readonly readiness: () => { readonly bodies: true | string };
}

/** Starts the gateway; resolves when it listens. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { writeKeys, refreshSources, clock, perSource, registry, log } = options;
  const metrics = createIngestMetrics(registry);
  const authenticator = createAuthenticator({ writeKeys, refresh: refreshSources, clock, log });
  const rateLimit = createRateLimit({ perSecond: perSource, monotonicMs: clock.monotonicMs });
  const work = createWorkQueue(clock.monotonicMs);
  const underWay = createUnderWay({ isBusy: work.isBusy, recentMs: work.recentMs, monotonicMs: clock.monotonicMs });
  const accept = createAccept({ ...options, authenticator, rateLimit, work, underWay, metrics });
  const lateRefusals = createLateRefusals(clock.monotonicMs);
  const bodies = createBodyReader({ maxHeldBytes: options.maxHeldBodyBytes, monotonicMs: clock.monotonicMs });
  gaugeBodyBytes(registry, bodies);
  const addresses = createClientAddresses(options.trustedProxies);
  const server = await startServer({
    host: options.host,
    port: options.port,
    bodies,
    addressOf: (request) => requestAddress(request, addresses),
    timeouts: options.timeouts,
    connected: work.connected,
    log,
    routes: (app) => {
      addCallRoutes(app, { accept, authenticator, addresses, work, underWay, lateRefusals, metrics });
      addBrowserRoutes(app, { authenticator });
      addPixelRoutes(app, { accept, authenticator, addresses, work, metrics });
      const document = createOpenApiDocument("1.0.0");
      app.get("/openapi.json", (request, reply) => sendJson(request, reply, document));
    },
  });
  return { ...server, bodies, readiness: () => ({ bodies: roomForBodies(bodies) }) };
}

function roomForBodies(bodies: Pick<BodyReader, "heldBytes" | "fullForMs">): true | string {
  const fullForMs = bodies.fullForMs();
  if (fullForMs < READY_FULL_MS) return true;
  return `no room for ${Math.round(fullForMs)} ms: ${bodies.heldBytes} bytes are held, and more is refused`;
}
