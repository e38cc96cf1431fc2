/** Makes the settings of the local brokers, for a single broker or for three as in a production cluster. Pure. */

import { type SecuredListeners, securedListeners } from "./secured-listeners.ts";

/** Where the brokers of a cluster listen, whether as processes of this machine or as containers of a network. */
export interface ClusterLayout {
  readonly count: number;
  /** `host:port` that clients are told for a broker. */
  readonly clientAddress: (id: number) => string;
  /** `host:port` that the other brokers are told; the clients' one when absent. */
  readonly brokerAddress?: (id: number) => string;
  /** `host:port` of a broker's controller, as the other nodes reach it. */
  readonly controllerAddress: (id: number) => string;
  /** The interface to listen on. */
  readonly bindHost: string;
  /** The port to listen on for clients, when it is not the one that they are told. */
  readonly clientPort?: number;
  /** TLS and logins; without it everything is plain text and everybody may do everything. */
  readonly security?: SecuredListeners;
}

/** Partitions of Kafka's own topic of offsets; its default of 50 costs seconds when the first group comes. */
const OFFSETS_PARTITIONS = 6;

/** The settings of the broker `id`, from 1, which is broker and controller in one process (KRaft). */
export function kafkaSettings(id: number, layout: ClusterLayout, logDir: string): Readonly<Record<string, string>> {
  const { count } = layout;
  const replicas = String(Math.min(count, 3));
  const minInSync = count >= 3 ? "2" : "1";
  const voters = Array.from({ length: count }, (_, index) => `${index + 1}@${layout.controllerAddress(index + 1)}`);
  return {
    "process.roles": "broker,controller",
    "node.id": String(id),
    "controller.quorum.voters": voters.join(","),
    ...listenerSettings(id, layout),
    "log.dirs": logDir,
    "auto.create.topics.enable": "false",
    "num.partitions": "6",
    "default.replication.factor": replicas,
    "min.insync.replicas": minInSync,
    "offsets.topic.replication.factor": replicas,
    "offsets.topic.num.partitions": String(OFFSETS_PARTITIONS),
    "transaction.state.log.replication.factor": replicas,
    "transaction.state.log.min.isr": minInSync,
    "share.coordinator.state.topic.replication.factor": replicas,
    "share.coordinator.state.topic.min.isr": minInSync,
    "group.initial.rebalance.delay.ms": "0",
    // By default the controller writes a record twice a second while nothing changes, and every broker reads it: that
    // is a third of the cost of a broker that idles.
    "metadata.max.idle.interval.ms": "5000",
    // The cleaner's default takes 128 MB.
    "log.cleaner.dedupe.buffer.size": String(16 * 1024 * 1024),
    ...(count > 1 ? FAILOVER : {}),
  };
}

/**
 * Settings for a quick failover (P4). The controller notices a dead broker after 3 s, where the default is 9 s of
 * refused calls. A follower that asks a new leader which does not know of its leadership yet pauses for a fifth of a
 * second; the default is 1 s, once or twice, in which nothing is acknowledged.
 */
const FAILOVER = {
  "broker.session.timeout.ms": "3000",
  "broker.heartbeat.interval.ms": "500",
  "replica.fetch.backoff.ms": "200",
} as const;

function listenerSettings(id: number, layout: ClusterLayout): Record<string, string> {
  const { bindHost } = layout;
  const client = layout.clientAddress(id);
  const internal = layout.brokerAddress?.(id);
  const clients = layout.security ? "CLIENTS" : "PLAINTEXT";
  const listeners = [
    `${clients}://${bindHost}:${layout.clientPort ?? portOf(client)}`,
    ...(internal ? [`INTERNAL://${bindHost}:${portOf(internal)}`] : []),
    `CONTROLLER://${bindHost}:${portOf(layout.controllerAddress(id))}`,
  ];
  return {
    listeners: listeners.join(","),
    "advertised.listeners": [`${clients}://${client}`, ...(internal ? [`INTERNAL://${internal}`] : [])].join(","),
    "inter.broker.listener.name": internal ? "INTERNAL" : clients,
    "controller.listener.names": "CONTROLLER",
    ...(layout.security
      ? securedListeners(id, layout.security)
      : { "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT,PLAINTEXT:PLAINTEXT" }),
  };
}

/** The text of `server.properties`. */
export function toProperties(settings: Readonly<Record<string, string>>): string {
  return `${Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join("\n")}\n`;
}

/** The environment that the official image makes its `server.properties` from. */
export function toImageEnvironment(settings: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [`KAFKA_${name.toUpperCase().replaceAll(".", "_")}`, value]),
  );
}

function portOf(address: string): string {
  return address.slice(address.lastIndexOf(":") + 1);
}
