/** The gateway over HTTP, with the brokers behind it as arguments: a test gives it a producer of its own. */
import type { Registry } from "prom-client";
import { type AcceptParts, createAccept } from "./accept.ts";
import { createAuthenticate } from "./authenticate.ts";
import { createClientAddresses } from "./client-address.ts";
import type { ReadTimeouts } from "./limits.ts";
import { createIngestMetrics } from "./metrics.ts";
import { createOpenApiDocument } from "./openapi.ts";
import { createRateLimit } from "./rate-limit.ts";
import { type BodyReader, createBodyReader } from "./read-body.ts";
import { sendJson } from "./reply.ts";
import { addBrowserRoutes } from "./routes/browser.ts";
import { addCallRoutes } from "./routes/calls.ts";
import { addPixelRoutes } from "./routes/pixel.ts";
import { type IngestServer, startServer } from "./server.ts";
import type { WriteKeys } from "./write-keys.ts";

export interface GatewayOptions extends Omit<AcceptParts, "authenticate" | "rateLimit" | "metrics"> {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly trustedProxies: readonly string[];
  readonly callsPerSecond: number;
  readonly timeouts?: ReadTimeouts;
  readonly writeKeys: WriteKeys;
  /** Reads the table of sources to its present end; rejects when that takes longer than `timeoutMs`. */
  readonly refreshSources: (timeoutMs: number) => Promise<void>;
  readonly registry: Registry;
}

export interface Gateway extends IngestServer {
  /** The bodies that are being read or answered. */
  readonly bodies: Pick<BodyReader, "heldBytes">;
}

/** Starts the gateway; resolves when it listens. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { writeKeys, refreshSources, clock, callsPerSecond, registry, log } = options;
  const metrics = createIngestMetrics(registry);
  const authenticate = createAuthenticate({ writeKeys, refresh: refreshSources, clock, log });
  const rateLimit = createRateLimit({ callsPerSecond, monotonicMs: clock.monotonicMs });
  const accept = createAccept({ ...options, authenticate, rateLimit, metrics });
  const bodies = createBodyReader();
  const addresses = createClientAddresses(options.trustedProxies);
  const server = await startServer({
    host: options.host,
    port: options.port,
    bodies,
    timeouts: options.timeouts,
    log,
    routes: (app) => {
      addCallRoutes(app, { accept, addresses, metrics });
      addBrowserRoutes(app, { authenticate });
      addPixelRoutes(app, { accept, addresses, metrics });
      const document = createOpenApiDocument("1.0.0");
      app.get("/openapi.json", (request, reply) => sendJson(request, reply, document));
    },
  });
  return { ...server, bodies };
}
