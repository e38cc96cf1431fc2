/**
 * The whole of Posthaste on this machine: the stack, its topics, the four services. The local command runs one, each
 * end-to-end test its own.
 *
 * - The services start when the topics stand, and `startSystem` answers when control's `/readyz` says that all are
 *   ready.
 * - The services end first and drain; the brokers end last.
 * - Every process can be killed, hung and started again by its name.
 */
import { createTopicNames } from "@posthaste/contracts/topics";
import { StackError } from "../process/stack-error.ts";
import type { StackProcess } from "../process/stack-process.ts";
import { makeDataFolder } from "../services/data-folder.ts";
import { grantAccess } from "../services/kafka-access.ts";
import { keepUsers, loginsOf } from "../services/kafka-logins.ts";
import {
  adminUrl,
  prepareService,
  prepareServices,
  SERVICE_NAMES,
  type ServiceName,
  type ServicePorts,
  type ServicesOptions,
  withoutKafkaSettings,
} from "../services/services.ts";
import { runTopicsProgram, topicsProgram } from "../services/topics-program.ts";
import { type LocalStack, startLocalStack } from "./local-stack.ts";
import type { LocalStackOptions } from "./prepared-stack.ts";

const READY_TIMEOUT_MS = 180_000;

export interface SystemOptions extends LocalStackOptions {
  readonly ports: ServicePorts;
  readonly adminToken: string;
  readonly secretKeys: string;
  /** `POSTHASTE_…` settings of the services beside this file's own. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The folder of another release's sources, whose services run. */
  readonly sources?: string | undefined;
}

/** Each port is by default the port of the service's own process, in whose place another may stand. */
export interface AnotherOptions {
  readonly adminPort?: number;
  /** For control's API. */
  readonly controlPort?: number;
  /** For ingest's calls. */
  readonly ingestPort?: number;
  /** The folder of its log and of what control keeps. */
  readonly dataDir?: string;
  /** The URL of its schema registry; by default the stack's. */
  readonly schemaRegistry?: string;
  /** `POSTHASTE_…` settings beside the settings of the service's own process. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The folder of the sources; by default the system's own. */
  readonly sources?: string;
}

export interface System {
  readonly stack: LocalStack;
  readonly ingestUrl: string;
  readonly controlUrl: string;
  readonly metricsUrls: Readonly<Record<ServiceName, string>>;
  readonly adminToken: string;
  /** Brokers, registry and services, in the order of their start. */
  readonly processes: readonly StackProcess[];
  /** Returns the process `kafka-1`, `schema-registry`, `ingest` … Throws for any other name. */
  readonly process: (name: string) => StackProcess;
  /** Returns another process of a service. It is not started yet and not among `processes`: the caller ends it. */
  readonly another: (name: ServiceName, options: AnotherOptions) => StackProcess;
  /** Runs the program that makes the topics once more, with these settings beside its own, of these sources. */
  readonly makeTopics: (settings: Readonly<Record<string, string>>, sources?: string) => Promise<void>;
  /** Ends all of it within about `deadlineMs`. */
  readonly stop: (deadlineMs?: number) => Promise<void>;
}

/**
 * Starts all of it. Throws StackError for a problem that the person at the terminal can mend; no process is left
 * running then.
 */
export async function startSystem(options: SystemOptions): Promise<System> {
  const { log, dataDir } = options;
  await makeDataFolder(dataDir);
  const users = options.security ? await keepUsers(dataDir) : [];
  const stack = await startLocalStack(options);
  const serviceOptions = servicesOf(stack, options);
  const services = prepareServices(serviceOptions);
  try {
    if (stack.secured) {
      log("granting each service what is its own");
      const names = createTopicNames(serviceOptions.env["POSTHASTE_TOPIC_PREFIX"] || undefined);
      await grantAccess(stack.brokers, { ...stack.secured, names, users });
    }
    log("making the topics");
    await runTopicsProgram(topicsProgram(serviceOptions), log);
    log(`starting ${SERVICE_NAMES.join(", ")}`);
    await Promise.all(services.map((each) => each.start()));
    await allReady(`http://127.0.0.1:${options.ports.control}`);
  } catch (error) {
    await Promise.all(services.map((each) => each.kill()));
    await stack.stop();
    throw error;
  }
  return toSystem({ stack, services, serviceOptions, log });
}

/** Returns the options of the services, with the addresses of the stack. */
function servicesOf(stack: LocalStack, options: SystemOptions): ServicesOptions {
  const { ports, adminToken, secretKeys, dataDir, sources, onUnexpectedExit = () => {} } = options;
  const given = { ...options.env, ...options.settings };
  return {
    brokers: stack.brokers,
    schemaRegistry: stack.schemaRegistry,
    ...{ ports, adminToken, secretKeys, dataDir, sources, onUnexpectedExit },
    // The services of a stack of our own get none of the settings that are for another stack.
    env: stack.processes.length > 0 ? withoutKafkaSettings(given) : given,
    logins: stack.secured ? loginsOf(dataDir, stack.secured.authorityFile) : undefined,
  };
}

interface Started {
  readonly stack: LocalStack;
  readonly services: readonly StackProcess[];
  readonly serviceOptions: ServicesOptions;
  readonly log: (line: string) => void;
}

function toSystem({ stack, services, serviceOptions, log }: Started): System {
  const { ports, env, sources: own } = serviceOptions;
  const processes = [...stack.processes, ...services];
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
    adminToken: serviceOptions.adminToken,
    processes,
    process: (name) => {
      const found = processes.find((each) => each.name === name);
      if (!found) throw new Error(`no process ${name}; there are ${processes.map((each) => each.name).join(", ")}`);
      return found;
    },
    another: (name, { settings = {}, sources = own, dataDir = serviceOptions.dataDir, ...given }) => {
      const { adminPort = ports.admin[name], controlPort = ports.control, ingestPort = ports.ingest } = given;
      const { schemaRegistry = serviceOptions.schemaRegistry } = given;
      const admin = { ...ports.admin, [name]: adminPort };
      const others = { ports: { ingest: ingestPort, control: controlPort, admin }, env: { ...env, ...settings } };
      return prepareService(name, { ...serviceOptions, ...others, schemaRegistry, sources, dataDir });
    },
    makeTopics: (settings, sources = own) =>
      runTopicsProgram(topicsProgram({ ...serviceOptions, env: { ...env, ...settings }, sources }), log),
    stop: async (deadlineMs = 12_000) => {
      await Promise.all(services.map((each) => each.stop(Math.round(deadlineMs * 0.6))));
      await stack.stop(Math.round(deadlineMs * 0.2));
    },
  };
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
