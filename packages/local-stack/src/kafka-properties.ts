/** The settings of the local brokers: one broker, or three as a production cluster has them. Pure. */

export interface BrokerAddress {
  /** Node id, from 1. */
  readonly id: number;
  readonly port: number;
  readonly controllerPort: number;
}

/** Partitions of Kafka's own topic of offsets; its default of 50 costs seconds when the first group comes. */
const OFFSETS_PARTITIONS = 6;

/** The text of `server.properties` for the broker `id`, which is broker and controller in one process (KRaft). */
export function kafkaProperties(id: number, cluster: readonly BrokerAddress[], logDir: string): string {
  const own = cluster.find((broker) => broker.id === id);
  if (!own) throw new Error(`no broker ${id} in the cluster`);
  const replicas = Math.min(cluster.length, 3);
  const minInSync = cluster.length >= 3 ? 2 : 1;
  const settings: Record<string, string | number | boolean> = {
    "process.roles": "broker,controller",
    "node.id": id,
    "controller.quorum.voters": cluster.map((node) => `${node.id}@127.0.0.1:${node.controllerPort}`).join(","),
    listeners: `PLAINTEXT://127.0.0.1:${own.port},CONTROLLER://127.0.0.1:${own.controllerPort}`,
    "advertised.listeners": `PLAINTEXT://127.0.0.1:${own.port}`,
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    "log.dirs": logDir,
    "auto.create.topics.enable": false,
    "num.partitions": 6,
    "default.replication.factor": replicas,
    "min.insync.replicas": minInSync,
    "offsets.topic.replication.factor": replicas,
    "offsets.topic.num.partitions": OFFSETS_PARTITIONS,
    "transaction.state.log.replication.factor": replicas,
    "transaction.state.log.min.isr": minInSync,
    "share.coordinator.state.topic.replication.factor": replicas,
    "share.coordinator.state.topic.min.isr": minInSync,
    "group.initial.rebalance.delay.ms": 0,
    // The cleaner's default takes 128 MB.
    "log.cleaner.dedupe.buffer.size": 16 * 1024 * 1024,
  };
  if (cluster.length > 1) {
    // P4: a dead broker is noticed after 3 s; the default is 9 s of refused calls.
    settings["broker.session.timeout.ms"] = 3000;
    settings["broker.heartbeat.interval.ms"] = 500;
  }
  return `${Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join("\n")}\n`;
}
