/**
 * The frame of a service's process: it reads settings, makes logger, metrics and admin server, starts and stops the
 * service by signals, and sets the exit code.
 *
 * Owns: the process's signal handlers and its exit. The process is
 * - *starting* until the service's `start` resolves;
 * - *running* from then on, when the service's own checks decide about `/readyz`;
 * - *stopping* from a signal, or the end of standard input (SV4), until it exits.
 * SV1  A setting that cannot be read ends the process with code 2 and the variable's name, before the process opens
 *      anything.
 * SV2  SIGINT and SIGTERM stop the service once; a second signal, or `STOP_DEADLINE_MS`, ends the process at once with
 *      code 1.
 * SV3  An error that nobody catches ends the process with code 1: the next process reads uncommitted records again.
 * SV4  With POSTHASTE_STOP_ON_STDIN_CLOSE, the end of standard input stops the service, so that a child never outlives
 *      its parent.
 * SV5  While it starts, `/readyz` gives the process's last warning, with the reason: the process waits for that.
 * SV6  Without `POSTHASTE_TRACES` OpenTelemetry's SDK is not loaded, and none of its settings is read.
 */
import type { Registry } from "prom-client";
import { z } from "zod";
import { type Readiness, startAdminServer } from "./admin-server.ts";
import { ConfigError, flag, port, readConfig } from "./config.ts";
import { createLogger, LOG_LEVELS, type Logger } from "./logger.ts";
import { createMetricsRegistry, gaugeReadiness } from "./metrics-registry.ts";
import { redactText } from "./redact-text.ts";
import { traceSettings } from "./traces/trace-settings.ts";
import type { Traces } from "./traces/traces.ts";

/** How long a clean stop may drain requests in flight; the local command promises 15 s for its whole end. */
const STOP_DEADLINE_MS = 12_000;

/** The settings that every service has beside its own. */
export const frameSettings = z.object({
  POSTHASTE_LOG_LEVEL: z.enum(LOG_LEVELS, `expected one of ${LOG_LEVELS.join(", ")}`).default("info"),
  POSTHASTE_HOST: z.string().default("127.0.0.1"),
  /** The port of this process's `/metrics`. */
  POSTHASTE_ADMIN_PORT: port().default(0),
  POSTHASTE_STOP_ON_STDIN_CLOSE: flag().default(false),
  POSTHASTE_TRACES: flag().default(false),
});

/** The argument of a service's `start`. */
export interface ServiceContext<Config> {
  readonly config: Readonly<Config>;
  /** The address to listen on. */
  readonly host: string;
  readonly logger: Logger;
  readonly registry: Registry;
  /** Undefined while traces are off. */
  readonly traces: Traces | undefined;
  /** Ends the process with code 1 and logs the reason, when the service cannot go on, as after a stalled group (C7). */
  readonly fail: (reason: Error) => void;
}

export interface RunningService {
  /** Returns the checks that name each missing step before the service can work; called at each `/readyz`. */
  readonly readiness: () => Readiness | Promise<Readiness>;
  /** The checks of this process alone, for `posthaste_ready` and `/readyz?own`; `readiness` when absent. */
  readonly ownReadiness?: () => Readiness | Promise<Readiness>;
  /** Stops intake, drains, commits and closes, in that order. */
  readonly stop: () => Promise<void>;
}

export interface ServiceDefinition<Schema extends z.ZodObject> {
  readonly name: string;
  readonly version: string;
  readonly settings: Schema;
  readonly start: (context: ServiceContext<z.infer<Schema>>) => Promise<RunningService>;
}

/** Runs a service until a signal; the only caller of `process.exit`. */
export async function runService<Schema extends z.ZodObject>(definition: ServiceDefinition<Schema>): Promise<void> {
  const { name, version } = definition;
  const read = readSettings(definition.settings);
  if (read instanceof ConfigError) {
    process.stderr.write(`${name}: ${read.message}\n`);
    process.exit(2);
  }
  const { frame, config, ofTraces } = read;
  const logger = createLogger({ service: name, level: frame.POSTHASTE_LOG_LEVEL });
  const registry = createMetricsRegistry({ service: name, version });
  const traces = ofTraces && (await loadTraces()).openTraces({ ...ofTraces, service: name, version, log: logger });
  const waits = noteWaits(logger);
  let running: RunningService | undefined;
  let ending = false;

  const fail = (reason: unknown): void => {
    logger.fatal({ event: "service_failed", err: reason }, "the service cannot go on");
    process.exit(1);
  };
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);

  const readinessBy = (checks: (service: RunningService) => Readiness | Promise<Readiness>) => () => {
    if (ending) return { running: "stopping" };
    return running === undefined ? { running: waits.state() } : checks(running);
  };
  const readiness = readinessBy((service) => service.readiness());
  const ownReadiness = readinessBy((service) => service.ownReadiness?.() ?? service.readiness());
  gaugeReadiness(registry, ownReadiness);
  const admin = await startAdminServer({
    ...{ host: frame.POSTHASTE_HOST, port: frame.POSTHASTE_ADMIN_PORT },
    ...{ registry, readiness, ownReadiness, version },
  }).catch(fail);

  const stop = (cause: string): void => {
    if (ending) process.exit(1);
    ending = true;
    logger.info({ event: "service_stopping", cause });
    setTimeout(() => {
      logger.error({ event: "service_stop_timed_out", deadlineMs: STOP_DEADLINE_MS });
      process.exit(1);
    }, STOP_DEADLINE_MS).unref();
    const stopped = async () => {
      await running?.stop();
      await traces?.close();
      await admin?.close();
      logger.info({ event: "service_stopped" });
      process.exit(0);
    };
    stopped().catch(fail);
  };
  process.on("SIGINT", () => stop("SIGINT"));
  process.on("SIGTERM", () => stop("SIGTERM"));
  if (frame.POSTHASTE_STOP_ON_STDIN_CLOSE) {
    process.stdin.resume();
    process.stdin.once("close", () => stop("standard input closed"));
  }

  logger.info({ event: "service_starting", version, admin: admin?.url });
  try {
    const parts = { logger: waits.logger, registry, traces, fail };
    running = await definition.start({ config, host: frame.POSTHASTE_HOST, ...parts });
    logger.info({ event: "service_started" });
  } catch (error) {
    fail(error);
  }
}

/** SV6. */
const loadTraces = () => import("./traces/traces.ts");

/** Makes a logger of which the last warning can be asked for (SV5). */
function noteWaits(logger: Logger): { readonly logger: Logger; readonly state: () => string } {
  let state = "starting";
  const warn: Logger["warn"] = (fields, message) => {
    const { reason } = fields;
    const words = [message, typeof reason === "string" ? `(${reason})` : undefined].filter(
      (each) => each !== undefined,
    );
    state = redactText(["starting:", ...words].join(" "));
    logger.warn(fields, message);
  };
  return { logger: Object.assign(Object.create(logger) as Logger, { warn }), state: () => state };
}

function readSettings<Schema extends z.ZodObject>(settings: Schema) {
  try {
    const frame = readConfig(frameSettings, process.env);
    const ofTraces = frame.POSTHASTE_TRACES ? { settings: readConfig(traceSettings, process.env) } : undefined;
    return { frame, config: readConfig(settings, process.env), ofTraces };
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}
