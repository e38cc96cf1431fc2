/** Prepares the four services as processes of the stack: the program of each, its settings, and its readiness. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { GuardedProcess } from "../process/guarded-process.ts";
import type { StackProcess } from "../process/stack-process.ts";
import type { KafkaLogins } from "./kafka-logins.ts";

/** The folder of this release's sources. */
export const SOURCES = fileURLToPath(new URL("../../../../", import.meta.url));

export const SERVICE_NAMES = ["ingest", "router", "delivery", "control"] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];

/**
 * The flags of control, which passes a million users on without holding them. Meanwhile V8 would let the heap grow to
 * three times its live objects. With the flags the heap grows by a fifth between two collections.
 */
const CONTROL_FLAGS = ["--max-semi-space-size=2", "--heap-growing-percent=20"] as const;
/**
 * The flags of the others. Below 128 MB of old space a full collection gains little
 * and is felt: V8 would make several a second of a small process that keeps much waiting.
 */
export const NODE_FLAGS = ["--initial-old-space-size=128"] as const;
/**
 * The flags of ingest and the router: their objects are let go as soon as the brokers have the records, so the young
 * generation, which V8 lets grow to 128 MB, holds garbage alone. With the flag it is 16 MB at the most.
 */
const SMALL_YOUNG_FLAGS = [...NODE_FLAGS, "--max-semi-space-size=8"] as const;
const SERVICE_FLAGS: Partial<Record<ServiceName, readonly string[]>> = {
  control: CONTROL_FLAGS,
  ingest: SMALL_YOUNG_FLAGS,
  router: SMALL_YOUNG_FLAGS,
};

export interface ServicePorts {
  readonly ingest: number;
  readonly control: number;
  /** The port of each service's `/metrics`, `/healthz`, `/readyz`. */
  readonly admin: Readonly<Record<ServiceName, number>>;
}

export interface ServicesOptions {
  readonly brokers: readonly string[];
  readonly schemaRegistry: string;
  readonly ports: ServicePorts;
  readonly adminToken: string;
  /** `id:base64,…`, as POSTHASTE_SECRET_KEYS has them. */
  readonly secretKeys: string;
  readonly dataDir: string;
  /** The environment that every process inherits; the settings above win over it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where Kafka authenticates its clients: the login of each process. */
  readonly logins?: KafkaLogins | undefined;
  /** The folder of the sources that run, for tests of another release. Default: this release's. */
  readonly sources?: string | undefined;
  readonly onUnexpectedExit: (name: string, reason: string) => void;
}

/** The settings with the token that control asks for, and with the keys of the sealed secrets. */
const ADMIN_TOKEN = "POSTHASTE_ADMIN_TOKEN";
const SECRET_KEYS = "POSTHASTE_SECRET_KEYS";

/**
 * Returns an environment to inherit, without the secrets that were given to this process: a child gets those that it
 * needs by name.
 */
export function withoutSecrets(
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  const { [ADMIN_TOKEN]: _token, [SECRET_KEYS]: _keys, ...others } = env;
  return others;
}

/**
 * Returns an environment without the settings of connections to Kafka and the registry: a person's settings are for the
 * cluster that the person named, and a cluster of our own has others.
 */
export function withoutKafkaSettings(
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !name.startsWith("KAFKA_") && !name.startsWith("SCHEMA_REGISTRY_")),
  );
}

/** The address of a service's operator port. */
export function adminUrl(ports: ServicePorts, name: ServiceName): string {
  return `http://127.0.0.1:${ports.admin[name]}`;
}

/** Answers Node's flags of a service, as deploy/Dockerfile has them too. */
export function nodeFlagsOf(name: ServiceName): readonly string[] {
  return SERVICE_FLAGS[name] ?? NODE_FLAGS;
}

/** Prepares a process for each service, not started yet. */
export function prepareServices(options: ServicesOptions): readonly StackProcess[] {
  return SERVICE_NAMES.map((name) => prepareService(name, options));
}

/** Prepares the process of a service. A second process of a service needs an operator port of its own. */
export function prepareService(name: ServiceName, options: ServicesOptions): StackProcess {
  return new GuardedProcess({
    name,
    command: process.execPath,
    args: [...nodeFlagsOf(name), join(options.sources ?? SOURCES, "services", name, "src/main.ts")],
    env: serviceEnvironment(name, options),
    logFile: join(options.dataDir, `${name}.log`),
    isReady: async () => (await fetch(`${adminUrl(options.ports, name)}/healthz`)).ok && (await isReady(name, options)),
    onUnexpectedExit: options.onUnexpectedExit,
  });
}

/** Returns the whole environment of a service's process. */
export function serviceEnvironment(name: ServiceName, options: ServicesOptions): Record<string, string | undefined> {
  const { ports, env } = options;
  const readyUrls = SERVICE_NAMES.filter((other) => other !== "control").map(
    (other) => `${other}=${adminUrl(ports, other)}/readyz`,
  );
  return {
    ...withoutSecrets(env),
    KAFKA_BROKERS: options.brokers.join(","),
    SCHEMA_REGISTRY_URL: options.schemaRegistry,
    ...options.logins?.settingsOf(`posthaste-${name}`),
    POSTHASTE_HOST: "127.0.0.1",
    POSTHASTE_ADMIN_PORT: String(ports.admin[name]),
    POSTHASTE_INGEST_PORT: String(ports.ingest),
    POSTHASTE_CONTROL_PORT: String(ports.control),
    POSTHASTE_READY_URLS: readyUrls.join(","),
    // Where its read model outlives it; otherwise each start reads the topics again, into memory.
    ...(name === "control" && { POSTHASTE_CONTROL_DATA_DIR: join(options.dataDir, "control") }),
    POSTHASTE_TEST_RECEIVER: "true",
    POSTHASTE_INGEST_URL: `http://127.0.0.1:${ports.ingest}`,
    ...secretsOf(name, options),
  };
}

/** Control alone takes the admin token; control seals secrets and delivery opens them. */
function secretsOf(name: ServiceName, { adminToken, secretKeys }: ServicesOptions): Record<string, string> {
  switch (name) {
    case "control":
      return { [ADMIN_TOKEN]: adminToken, [SECRET_KEYS]: secretKeys };
    case "delivery":
      return { [SECRET_KEYS]: secretKeys };
    case "ingest":
    case "router":
      return {};
  }
}

// Control is ready when every service is. So nobody waits here for control's readiness, since other processes may not
// have started yet.
async function isReady(name: ServiceName, { ports }: ServicesOptions): Promise<boolean> {
  if (name === "control") return true;
  return (await fetch(`${adminUrl(ports, name)}/readyz`)).ok;
}
