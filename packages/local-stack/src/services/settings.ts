/** Reads the local command's arguments and environment. Pure. A StackError names the setting that cannot be read. */
import { isIPv4, isIPv6 } from "node:net";
import { resolve } from "node:path";
import { StackError } from "../process/stack-error.ts";
import type { ServicePorts } from "./services.ts";

export const USAGE = `npm start [-- OPTIONS]

Brings up all of Posthaste on 127.0.0.1, shows the seven kinds of event on their way, and stays up until Ctrl-C.

  --no-demo       leave the demonstration out
  --brokers 1|3   size of the Kafka cluster (default 1)
  --secure        Kafka over TLS, each service with a login and grants of its own
  --help          this text

Environment: POSTHASTE_INGEST_PORT (8080), POSTHASTE_CONTROL_PORT (8090), POSTHASTE_METRICS_PORT (9101, the first of four),
POSTHASTE_DATA_DIR (.posthaste), POSTHASTE_ADMIN_TOKEN (made at the first start), POSTHASTE_ALLOW_NETWORKS (loopback),
POSTHASTE_DENY_NETWORKS, POSTHASTE_WEBHOOK_PORTS (any),
POSTHASTE_RETRY_SCHEDULE, POSTHASTE_RETRY_WINDOW; KAFKA_BROKERS and SCHEMA_REGISTRY_URL name a cluster to use instead.
`;

/** The networks that webhooks may reach beside public addresses: the receivers on this machine. */
const LOOPBACK = "127.0.0.0/8,::1/128";

export interface CommandSettings {
  readonly help: boolean;
  readonly demo: boolean;
  readonly brokers: 1 | 3;
  /** Kafka over TLS, with logins and grants. */
  readonly secure: boolean;
  readonly ports: ServicePorts;
  readonly dataDir: string;
  /** The admin token; when it is undefined, the command takes the token in the data folder, or makes one. */
  readonly adminToken: string | undefined;
  readonly allowNetworks: string;
}

/** Reads arguments and environment; a relative data folder counts from `root`. Throws StackError. */
export function readCommandSettings(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  root: string,
): CommandSettings {
  for (const name of ["POSTHASTE_RETRY_SCHEDULE", "POSTHASTE_RETRY_WINDOW"]) checkDurations(env, name);
  for (const name of ["POSTHASTE_ALLOW_NETWORKS", "POSTHASTE_DENY_NETWORKS"]) checkNetworks(env, name);
  checkPorts(env, "POSTHASTE_WEBHOOK_PORTS");
  checkToken(env, "POSTHASTE_ADMIN_TOKEN");
  checkTogether(env, "KAFKA_BROKERS", "SCHEMA_REGISTRY_URL");
  checkConnection(env);
  return {
    ...readArguments(args),
    ports: readPorts(env),
    dataDir: resolve(root, env["POSTHASTE_DATA_DIR"] || ".posthaste"),
    adminToken: env["POSTHASTE_ADMIN_TOKEN"] || undefined,
    allowNetworks: env["POSTHASTE_ALLOW_NETWORKS"] || LOOPBACK,
  };
}

function readArguments(args: readonly string[]): Pick<CommandSettings, "help" | "demo" | "brokers" | "secure"> {
  let [help, demo, secure] = [false, true, false];
  let brokers: 1 | 3 = 1;
  for (let index = 0; index < args.length; index += 1) {
    const [name, inline] = (args[index] ?? "").split("=", 2);
    if (name === "--help" || name === "-h") help = true;
    else if (name === "--no-demo") demo = false;
    else if (name === "--secure") secure = true;
    else if (name === "--brokers") {
      const value = inline ?? args[++index];
      if (value !== "1" && value !== "3") throw new StackError(`--brokers: expected 1 or 3, got ${value ?? "nothing"}`);
      brokers = value === "3" ? 3 : 1;
    } else throw new StackError(`unknown option ${name}; npm start -- --help shows them`);
  }
  return { help, demo, brokers, secure };
}

// The services check these settings too, but only when the brokers are up; here a typing error is reported at once.

function checkDurations(env: Readonly<Record<string, string | undefined>>, name: string): void {
  const text = env[name] ?? "";
  if (text === "" || text.split(",").every((item) => /^\s*\d+(ms|s|m|h)\s*$/.test(item))) return;
  throw new StackError(`${name}: expected durations such as 250ms, 10s, 5m or 4h, got ${text}`);
}

function checkNetworks(env: Readonly<Record<string, string | undefined>>, name: string): void {
  const text = env[name] ?? "";
  if (text === "" || text.split(",").every((item) => item.trim() === "" || isNetwork(item.trim()))) return;
  throw new StackError(`${name}: expected CIDRs divided by commas, such as 127.0.0.0/8,::1/128, got ${text}`);
}

function isNetwork(text: string): boolean {
  const [, address = "", length = ""] = /^(.+)\/(\d{1,3})$/.exec(text) ?? [];
  return (isIPv4(address) && Number(length) <= 32) || (isIPv6(address) && Number(length) <= 128);
}

function checkPorts(env: Readonly<Record<string, string | undefined>>, name: string): void {
  const text = env[name] ?? "";
  if (text.split(",").every((item) => item.trim() === "" || isPort(item.trim()))) return;
  throw new StackError(`${name}: expected ports from 1 to 65535 divided by commas, such as 80,443, got ${text}`);
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
}

// The error leaves out the value, since it may end up in somebody's log.
function checkToken(env: Readonly<Record<string, string | undefined>>, name: string): void {
  if (/^[\x21-\x7e]*$/.test(env[name] ?? "")) return;
  throw new StackError(`${name}: expected a token of printable ASCII without spaces: it travels in a header`);
}

// With only one of the two settings, the command would start a cluster and ignore the setting without a word.
function checkTogether(env: Readonly<Record<string, string | undefined>>, one: string, other: string): void {
  for (const [set, lacking] of [[one, other] as const, [other, one] as const]) {
    if (env[set] && !env[lacking]) throw new StackError(`${set} is set: set ${lacking} too, or neither`);
  }
}

// Settings of a connection are for a cluster that the environment names. A cluster that the command starts has logins
// of its own, and would ignore such settings without a word.
function checkConnection(env: Readonly<Record<string, string | undefined>>): void {
  if (env["KAFKA_BROKERS"]) return;
  const given = Object.keys(env).filter(
    (name) => /^(?:KAFKA_(?:TLS|SASL|SSL)|SCHEMA_REGISTRY_)/.test(name) && env[name],
  );
  const [first] = given.sort();
  if (first === undefined) return;
  throw new StackError(
    `${first} is set, and KAFKA_BROKERS is not: it is for a cluster of yours. Set KAFKA_BROKERS and SCHEMA_REGISTRY_URL too, ` +
      `or unset ${given.join(", ")} (--secure gives the cluster that is started here TLS and logins)`,
  );
}

/** Refuses a port that is named twice: the second service to listen on it would end the start. */
function readPorts(env: Readonly<Record<string, string | undefined>>): ServicePorts {
  const metrics = readPort(env, "POSTHASTE_METRICS_PORT", 9101, 4);
  const ingest = readPort(env, "POSTHASTE_INGEST_PORT", 8080);
  const control = readPort(env, "POSTHASTE_CONTROL_PORT", 8090);
  for (const [name, port] of [
    ["POSTHASTE_INGEST_PORT", ingest] as const,
    ["POSTHASTE_CONTROL_PORT", control] as const,
  ]) {
    if (port < metrics || port > metrics + 3) continue;
    throw new StackError(`${name}: ${port} is one of the four ports from POSTHASTE_METRICS_PORT (${metrics}) on`);
  }
  if (ingest === control) throw new StackError(`POSTHASTE_CONTROL_PORT: ${control} is POSTHASTE_INGEST_PORT too`);
  return {
    ingest,
    control,
    admin: { ingest: metrics, router: metrics + 1, delivery: metrics + 2, control: metrics + 3 },
  };
}

/** A port that has `count - 1` more above it. */
function readPort(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  fallback: number,
  count = 1,
): number {
  const text = env[name];
  if (text === undefined || text === "") return fallback;
  const last = 65_536 - count;
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= last) return port;
  throw new StackError(`${name}: expected a port from 1 to ${last}, got ${text}`);
}
