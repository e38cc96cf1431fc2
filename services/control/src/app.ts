/**
 * Control from its start to its end: it opens its parts (`parts.ts`), serves its routes (`routes.ts`), lets the acting
 * parts begin once it has read its tables, and closes everything at the end.
 */

import type { AddressInfo } from "node:net";
import { drawWriter } from "@posthaste/configuration/config-store";
import type { OpenCodec } from "@posthaste/contracts/codec";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import { createServer } from "@posthaste/http-kit/server";
import { SYSTEM_CLOCK } from "@posthaste/kafka/connection/system-clock";
import type { Readiness } from "@posthaste/runtime/admin-server";
import { SharedAnswer } from "@posthaste/runtime/shared-answer";
import type { Traces } from "@posthaste/runtime/traces";
import type { Registry } from "prom-client";
import type { ControlConfig } from "./config.ts";
import { openConsole } from "./console/open-console.ts";
import { EXAMPLES } from "./examples/examples.ts";
import { askServices, tablesState } from "./health/doctor/service-readiness.ts";
import { watchDoctor } from "./health/doctor/watch-doctor.ts";
import { closeParts, openParts, type Parts } from "./parts/parts.ts";
import { openDoctorOf, openRoutes } from "./parts/routes.ts";

/** A write that waits this many ms for the brokers makes control unready. */
const STALLED_MS = 5000;

/** Control accepts a token with fewer characters than this, but warns that it can be guessed. */
const SHORT_TOKEN = 16;

export interface ControlOptions {
  readonly config: ControlConfig;
  readonly host: string;
  readonly version: string;
  readonly log: Log;
  readonly registry: Registry;
  /** Undefined while traces are off. */
  readonly traces: Traces | undefined;
  /** Ends the process: the tables cannot be read. */
  readonly fail: (reason: Error) => void;
  readonly clock?: Clock;
  /** Of S3 of config-store.ts; drawn at random when left out. */
  readonly writer?: number;
  /** Opens the codecs. Default: the codecs of the registry in the settings. */
  readonly openCodec?: OpenCodec | undefined;
}

export interface Control {
  /** The API's address. */
  readonly url: string;
  /** Resolves when control has read its tables; it serves `/v1` from then on. */
  readonly caughtUp: Promise<void>;
  readonly readiness: () => Promise<Readiness>;
  /** The readiness without that of the other services. */
  readonly ownReadiness: () => Readiness;
  readonly stop: () => Promise<void>;
}

/** Resolves when the API listens; it answers 503 until control has read its tables. */
export async function startControl(options: ControlOptions): Promise<Control> {
  const { config, host, version, log, clock = SYSTEM_CLOCK, writer = drawWriter(Math.random()) } = options;
  warnOfShortToken(config, log);
  // The server's own once it listens: the configured one may be 0, for any that is free.
  let port = config.POSTHASTE_CONTROL_PORT;
  const parts = await openParts({ ...options, clock, writer, port: () => port });
  const tables = beginWhenRead(parts, options);
  const ownReadiness = (): Readiness => ({
    tables: tables.state(),
    brokers: brokersState(parts),
    deliveryLog: parts.readModel.trouble() ?? true,
  });
  const services = new SharedAnswer({ make: () => askServices(config.POSTHASTE_READY_URLS) });
  const readiness = async (): Promise<Readiness> => ({
    ...ownReadiness(),
    ...(await services.ask()),
  });
  const isApi = config.POSTHASTE_CONTROL_ROLES.includes("api");
  const doctor = openDoctorOf(parts, { config, clock, readiness, version });
  const server = createServer({
    routes: isApi ? await openRoutes(parts, doctor, { config, clock, readiness }) : [],
    callers: parts.access.callers,
    examples: EXAMPLES,
    version,
    log,
    metrics: parts.metrics,
    readiness,
    information: parts.readModel.state,
    pages: isApi ? await openConsole(log) : null,
    isCaughtUp: tables.areRead,
    addPaths: (to) => {
      parts.canary.addPaths(to);
      if (isApi) parts.testReceivers.addPaths(to);
    },
  });
  await server.listen({ host, port });
  port = (server.server.address() as AddressInfo).port;
  const url = `http://${host}:${port}`;
  log.info({ event: "control_listening", url });
  let [isStopping, unwatchDoctor] = [false, (): void => undefined];
  tables.caughtUp.then(
    () => {
      // A stop may come before the tables were read.
      if (isStopping) return;
      void parts.canary.start();
      if (isApi) unwatchDoctor = watchDoctor(doctor.lookAround, parts.metrics.doctorFindings);
    },
    () => undefined,
  );
  return {
    url,
    caughtUp: tables.caughtUp,
    readiness,
    ownReadiness,
    stop: async () => {
      isStopping = true;
      unwatchDoctor();
      parts.canary.close();
      await server.close();
      await closeParts(parts);
    },
  };
}

function warnOfShortToken({ POSTHASTE_ADMIN_TOKEN: { length } }: ControlConfig, log: Log): void {
  if (length < SHORT_TOKEN) {
    log.warn({ event: "admin_token_short", length }, "POSTHASTE_ADMIN_TOKEN can be guessed");
  }
}

/**
 * Starts the watch of health and, under the role `jobs`, deletions, replays and audiences, once control has read every
 * table. Ends control where a table cannot be read.
 */
function beginWhenRead(parts: Parts, { config, log, fail }: Pick<ControlOptions, "config" | "log" | "fail">) {
  const { access, sources, destinations, audiences, replays, health, deletions } = parts;
  const tables = [access, sources, destinations, audiences, replays, health];
  let areRead = false;
  const caughtUp = Promise.all([...tables, deletions].map((each) => each.caughtUp())).then(() => {
    areRead = true;
    log.info({ event: "tables_caught_up" });
    replays.start();
    health.start();
    if (config.POSTHASTE_CONTROL_ROLES.includes("jobs")) {
      deletions.startJobs();
      replays.startJobs();
      audiences.startJobs();
    }
  });
  caughtUp.catch(fail);
  return {
    caughtUp,
    areRead: () => areRead,
    state: () =>
      areRead ? tablesState([...tables.map(({ state }) => state), ...deletions.states]) : "reading the configuration",
  };
}

function brokersState({ producer, connection }: Parts): true | string {
  return producer.oldestPendingMs < STALLED_MS ? connection.brokersState() : `no acknowledgement for ${STALLED_MS} ms`;
}
