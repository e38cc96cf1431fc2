/** Runs Apache Kafka as plain processes, one for each broker. It formats a data folder at its first use. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ClassArchive, classArchiveArguments } from "../parts/class-archive.ts";
import { GuardedProcess } from "../process/guarded-process.ts";
import { findFreePorts } from "../process/ports.ts";
import { StackError } from "../process/stack-error.ts";
import type { StackProcess } from "../process/stack-process.ts";
import { brokerIsInCluster, type ClusterAddresses } from "./cluster-view.ts";
import { type ClusterLayout, kafkaSettings, toProperties } from "./kafka-properties.ts";
import { formatStorage } from "./kafka-storage.ts";
import { type ClusterCertificates, keepCertificates, OPERATOR } from "./operator-tls.ts";
import type { SecuredListeners } from "./secured-listeners.ts";

const logSettings = new URL("../../java/log4j2.properties", import.meta.url).href;
/** Flags for a short start, whatever they cost later: no second compiler, and no threads for garbage collection. */
const FOR_A_SHORT_RUN = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"] as const;

export interface KafkaProcessesOptions {
  /** Folder of Kafka's jars. */
  readonly jars: string;
  readonly dataDir: string;
  readonly count: number;
  /** Short runs start faster without the second compiler; long ones are faster with it. */
  readonly shortLived: boolean;
  readonly classes?: ClassArchive | undefined;
  /** A formatted data folder from which others are made. When it is absent, Kafka's own tool formats each folder. */
  readonly formatted?: string | undefined;
  /** When it is absent, connections are in plain text and everybody may do everything. */
  readonly security?: BrokerSecurity;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onUnexpectedExit: (name: string, reason: string) => void;
}

export interface BrokerSecurity extends Pick<SecuredListeners, "mechanisms" | "ungranted" | "plainUsers"> {
  /** The broker's log has a line for each granted request too, and not only for denied ones. */
  readonly logsGranted?: boolean;
}

export interface PreparedKafka {
  readonly processes: readonly StackProcess[];
  /** The addresses for clients. */
  readonly addresses: ClusterAddresses;
  /** The addresses for the operator of the cluster: in a secured cluster, other ports, and a certificate. */
  readonly operator: ClusterAddresses;
  /** PEM file of the authority to trust, where the cluster is secured. */
  readonly authorityFile: string | undefined;
}

/** Processes `kafka-1` …, not started yet, and their addresses. */
export async function prepareKafka(options: KafkaProcessesOptions): Promise<PreparedKafka> {
  const { dataDir, count, security } = options;
  const ids = Array.from({ length: count }, (_, index) => index + 1);
  const addresses = await findAddresses(count, security !== undefined);
  await mkdir(dataDir, { recursive: true });
  await assertSameSize(dataDir, count);
  const certificates = security ? await keepCertificates(join(dataDir, "tls"), ids.map(nameOf)) : undefined;
  const layout: ClusterLayout = {
    count,
    clientAddress: addresses.client,
    controllerAddress: addresses.controller,
    bindHost: "127.0.0.1",
    ...(security && certificates
      ? { brokerAddress: addresses.operator, security: securedBy(security, certificates, ids) }
      : {}),
  };
  const isReady = (id: number) => brokerIsInCluster(addresses.operator(id), id, certificates?.operator);
  const controllers = ids.map(addresses.controller);
  return {
    processes: await Promise.all(ids.map((id) => prepareBroker(id, { ...options, layout, isReady }))),
    addresses: { brokers: ids.map(addresses.client), controllers },
    operator: {
      brokers: ids.map(addresses.operator),
      controllers,
      ...(certificates ? { tls: certificates.operator } : {}),
    },
    authorityFile: certificates?.authorityFile,
  };
}

function nameOf(id: number): string {
  return `kafka-${id}`;
}

/** `host:port` of each broker for clients, for the other controllers, and for the operator of the cluster. */
interface BrokerAddresses {
  readonly client: (id: number) => string;
  readonly controller: (id: number) => string;
  /** The same as for clients where the cluster is not secured. */
  readonly operator: (id: number) => string;
}

async function findAddresses(count: number, isSecured: boolean): Promise<BrokerAddresses> {
  const ports = await findFreePorts(count * 3);
  const addressAt = (index: number): string => `127.0.0.1:${ports[index]}`;
  const client = (id: number): string => addressAt(id - 1);
  return {
    client,
    controller: (id) => addressAt(count + id - 1),
    operator: isSecured ? (id) => addressAt(2 * count + id - 1) : client,
  };
}

function securedBy(
  security: BrokerSecurity,
  { keyFile, authorityFile }: ClusterCertificates,
  ids: readonly number[],
): SecuredListeners {
  const operators = [...ids.map(nameOf), OPERATOR];
  return { ...security, keyFile: (id) => keyFile(nameOf(id)), authorityFile, operators };
}

interface BrokerOptions extends KafkaProcessesOptions {
  readonly layout: ClusterLayout;
  readonly isReady: (id: number) => Promise<boolean>;
}

/** Writes the broker's settings, and formats its data folder on the first use. */
async function prepareBroker(id: number, options: BrokerOptions): Promise<StackProcess> {
  const { jars, dataDir, count, layout, isReady, formatted } = options;
  const name = nameOf(id);
  const logDir = join(dataDir, name);
  const properties = join(dataDir, `${name}.properties`);
  // There is no folder among the jars, since Java keeps no classes that come from a folder.
  const java = [`-Dlog4j2.configurationFile=${logSettings}`, "-cp", join(jars, "*")];
  await writeFile(properties, toProperties(kafkaSettings(id, layout, logDir)));
  const formatter = [...FOR_A_SHORT_RUN, ...java];
  await formatStorage({ nodeId: id, logDir, java: formatter, properties, formatted, env: options.env });
  return new GuardedProcess({
    name,
    command: "java",
    args: [
      `-Xmx${count > 1 ? 400 : 600}m`,
      ...(options.shortLived ? FOR_A_SHORT_RUN : []),
      ...classArchiveArguments(options.classes),
      ...(options.security?.logsGranted ? ["-Dposthaste.authorizer.level=DEBUG"] : []),
      ...java,
      "kafka.Kafka",
      properties,
    ],
    env: options.env,
    logFile: join(dataDir, `${name}.log`),
    isReady: () => isReady(id),
    onUnexpectedExit: options.onUnexpectedExit,
  });
}

/**
 * Throws StackError when the folder began with a cluster of another size. A cluster keeps its size: new brokers without
 * state would outvote the broker that has the topics, and a broker alone has no majority of three.
 */
export async function assertSameSize(dataDir: string, count: number): Promise<void> {
  const last = await readFile(join(dataDir, "kafka-1.properties"), "utf8").catch(() => "");
  const voters = /^controller\.quorum\.voters=(.+)$/m.exec(last)?.[1];
  const size = voters?.split(",").length ?? count;
  if (size === count) return;
  throw new StackError(
    `${dataDir} holds a cluster of ${size}: start it with --brokers ${size}, or set POSTHASTE_DATA_DIR to another folder`,
  );
}
