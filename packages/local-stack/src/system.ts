/**
 * The whole of Posthaste on this machine: the stack, its topics, the four services. The local command runs one, each
 * end-to-end test its own.
 *
 * Y1  The services start when the topics stand, and `startSystem` answers when control's `/readyz` says that all are ready.
 * Y2  The services end first and drain; the brokers end last.
 * Y3  Every unit can be killed, hung and started again by its name.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createTopicNames } from "@posthaste/contracts/topics";
import { makeDataFolder } from "./data-folder.ts";
import { grantAccess } from "./kafka-access.ts";
import { keepUsers, loginsOf } from "./kafka-logins.ts";
import { type LocalStack, startLocalStack } from "./local-stack.ts";
import type { LocalStackOptions } from "./prepared-stack.ts";
import {
  adminUrl,
  prepareService,
  prepareServices,
  SERVICE_NAMES,
  type ServiceName,
  type ServicePorts,
  topicsProgram,
  withoutKafkaSettings,
} from "./services.ts";
import { StackError } from "./stack-error.ts";
import type { Unit } from "./unit.ts";

const run = promisify(execFile);
const READY_TIMEOUT_MS = 180_000;

export interface SystemOptions extends LocalStackOptions {
  readonly ports: ServicePorts;
  readonly adminToken: string;
  readonly secretKeys: string;
  /** `POSTHASTE_…` settings of the services beside what this file sets. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface System {
  readonly stack: LocalStack;
  readonly ingestUrl: string;
  readonly controlUrl: string;
  readonly metricsUrls: Readonly<Record<ServiceName, string>>;
  readonly adminToken: string;
  /** Brokers, registry and services, in the order of their start. */
  readonly units: readonly Unit[];
  /** The unit `kafka-1`, `schema-registry`, `ingest` … Throws for a name that it has not. */
  readonly unit: (name: string) => Unit;
  /** One more process of a service, not started yet and not among `units`: who asks for it ends it. */
  readonly another: (name: ServiceName, adminPort: number) => Unit;
  /** Runs the program that makes the topics once more, with these settings beside its own. */
  readonly makeTopics: (settings: Readonly<Record<string, string>>) => Promise<void>;
  /** Ends all of it within about `deadlineMs`. */
  readonly stop: (deadlineMs?: number) => Promise<void>;
}

/** Starts all of it. Throws StackError for what the person at the terminal can mend; nothing is left running then. */
export async function startSystem(options: SystemOptions): Promise<System> {
  const { log, ports, dataDir } = options;
  await makeDataFolder(dataDir);
  const users = options.security ? await keepUsers(dataDir) : [];
  const stack = await startLocalStack(options);
  const given = { ...options.env, ...options.settings };
  // A stack of our own takes none of the settings that are for another.
  const env = stack.units.length > 0 ? withoutKafkaSettings(given) : given;
  const logins = stack.secured ? loginsOf(dataDir, stack.secured.authorityFile) : undefined;
  const serviceOptions = {
    brokers: stack.brokers,
    schemaRegistry: stack.schemaRegistry,
    ports,
    adminToken: options.adminToken,
    secretKeys: options.secretKeys,
    dataDir,
    env,
    logins,
    onUnexpectedExit: options.onUnexpectedExit ?? (() => {}),
  };
  const services = prepareServices(serviceOptions);
  try {
    if (stack.secured) {
      log("granting each service what is its own");
      const names = createTopicNames(env["POSTHASTE_TOPIC_PREFIX"] || undefined);
      await grantAccess(stack.brokers, { ...stack.secured, names, users });
    }
    log("making the topics");
    await applyTopics(serviceOptions);
    log(`starting ${SERVICE_NAMES.join(", ")}`);
    await Promise.all(services.map((unit) => unit.start()));
    await allReady(`http://127.0.0.1:${ports.control}`);
  } catch (error) {
    await Promise.all(services.map((unit) => unit.kill()));
    await stack.stop();
    throw error;
  }

  const units = [...stack.units, ...services];
  return {
    stack,
    ingestUrl: `http://127.0.0.1:${ports.ingest}`,
    controlUrl: `http://127.0.0.1:${ports.control}`,
    metricsUrls: {
      ingest: `${adminUrl(ports, "ingest")}/metrics`,
      router: `${adminUrl(ports, "router")}/metrics`,
      delivery: `${adminUrl(ports, "delivery")}/metrics`,
      control: `${adminUrl(ports, "control")}/metrics`,
    },
    adminToken: options.adminToken,
    units,
    unit: (name) => {
      const found = units.find((unit) => unit.name === name);
      if (!found) throw new Error(`no unit ${name}; there are ${units.map((unit) => unit.name).join(", ")}`);
      return found;
    },
    another: (name, adminPort) =>
      prepareService(name, { ...serviceOptions, ports: { ...ports, admin: { ...ports.admin, [name]: adminPort } } }),
    makeTopics: (settings) => applyTopics({ ...serviceOptions, env: { ...env, ...settings } }),
    stop: async (deadlineMs = 12_000) => {
      await Promise.all(services.map((unit) => unit.stop(Math.round(deadlineMs * 0.6))));
      await stack.stop(Math.round(deadlineMs * 0.2));
    },
  };
}

async function applyTopics(options: Parameters<typeof topicsProgram>[0]): Promise<void> {
  const program = topicsProgram(options);
  await run(process.execPath, [...program.args], { env: { ...program.env } }).catch((error: { stderr?: string }) => {
    throw new StackError(`the topics could not be made: ${error.stderr ?? String(error)}`);
  });
}

async function allReady(controlUrl: string): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    const answer = await fetch(`${controlUrl}/readyz`).catch(() => undefined);
    if (answer?.ok) return;
    const missing = await answer?.text();
    if (performance.now() > deadline)
      throw new StackError(`not ready after ${READY_TIMEOUT_MS / 1000} s: ${missing ?? "control does not answer"}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
