/**
 * The stack as containers, through testcontainers. Its reaper ends them when this process goes, however it goes; state is
 * kept in named volumes, one set a data folder. A container is a unit like a process: to hang it is to pause it.
 */
import { createHash } from "node:crypto";
import { GenericContainer, getContainerRuntimeClient, Network, type StartedTestContainer, Wait } from "testcontainers";
import { brokerIsInCluster } from "./cluster-view.ts";
import { kafkaSettings, toImageEnvironment } from "./kafka-properties.ts";
import { findFreePorts } from "./ports.ts";
import type { LocalStackOptions, PreparedStack } from "./prepared-stack.ts";
import { CONFLUENT_API_PATH } from "./registry-process.ts";
import { StackError } from "./stack-error.ts";
import type { Unit } from "./unit.ts";

/** The versions are those of java/pom.xml; Kafka's digest is the one of deploy/compose.yaml. */
const KAFKA_IMAGE = "apache/kafka:4.1.0@sha256:bff074a5d0051dbc0bbbcd25b045bb1fe84833ec0d3c7c965d1797dd289ec88f";
const REGISTRY_IMAGE = "apicurio/apicurio-registry-mem:2.6.13.Final";

const CLIENT_PORT = 9092;
const CONTROLLER_PORT = 9093;
const BROKER_PORT = 19_092;
const REGISTRY_PORT = 8080;
const KAFKA_DATA = "/var/lib/kafka/data";
const REGISTRY_DATA = "/var/lib/registry";
const POLL_MS = 100;
const READY_TIMEOUT_MS = 120_000;

/** True when a container runtime answers. */
export async function dockerAnswers(): Promise<boolean> {
  return getContainerRuntimeClient().then(
    () => true,
    () => false,
  );
}

/** Units `kafka-1` … and `schema-registry`, not started yet. Pulls nothing: the first start does. */
export async function prepareContainers(options: LocalStackOptions): Promise<PreparedStack> {
  const { dataDir, brokers: count = 1 } = options;
  const ids = Array.from({ length: count }, (_, index) => index + 1);
  const ports = await findFreePorts(count * 2 + 1);
  const port = (index: number): number => ports[index] ?? 0;
  const network = await new Network().start();
  const volume = volumePrefix(dataDir);
  const layout = {
    count,
    clientAddress: (id: number) => `127.0.0.1:${port(id - 1)}`,
    clientPort: CLIENT_PORT,
    brokerAddress: (id: number) => `kafka-${id}:${BROKER_PORT}`,
    controllerAddress: (id: number) => `kafka-${id}:${CONTROLLER_PORT}`,
    bindHost: "0.0.0.0",
  };
  const kafka = ids.map((id) => {
    const name = `kafka-${id}`;
    const container = new LoopbackContainer(KAFKA_IMAGE)
      .withNetwork(network)
      .withNetworkAliases(name)
      .withEnvironment(toImageEnvironment(kafkaSettings(id, layout, KAFKA_DATA)))
      .withBindMounts([{ source: `${volume}-${name}`, target: KAFKA_DATA }])
      .withExposedPorts(
        { container: CLIENT_PORT, host: port(id - 1) },
        { container: CONTROLLER_PORT, host: port(count + id - 1) },
      )
      .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
      .withStartupTimeout(READY_TIMEOUT_MS);
    return createContainerUnit(name, container, () => brokerIsInCluster(layout.clientAddress(id), id));
  });
  const url = `http://127.0.0.1:${port(count * 2)}${CONFLUENT_API_PATH}`;
  const registry = new LoopbackContainer(REGISTRY_IMAGE)
    // The image's own user may not write to a fresh volume.
    .withUser("root")
    .withEnvironment({ QUARKUS_DATASOURCE_JDBC_URL: `jdbc:h2:file:${REGISTRY_DATA}/schema-registry` })
    .withBindMounts([{ source: `${volume}-schema-registry`, target: REGISTRY_DATA }])
    .withExposedPorts({ container: REGISTRY_PORT, host: port(count * 2) })
    .withWaitStrategy(Wait.forListeningPorts())
    .withStartupTimeout(READY_TIMEOUT_MS);
  return {
    cluster: {
      brokers: ids.map(layout.clientAddress),
      controllers: ids.map((id) => `127.0.0.1:${port(count + id - 1)}`),
    },
    schemaRegistry: url,
    kafka,
    registry: createContainerUnit("schema-registry", registry, async () => (await fetch(`${url}/subjects`)).ok),
  };
}

/**
 * A container whose ports are published on 127.0.0.1. Docker's own default is every address of the machine, past its
 * firewall, and neither Kafka nor the registry asks who calls.
 */
class LoopbackContainer extends GenericContainer {
  protected override async beforeContainerCreated(): Promise<void> {
    const published: Record<string, { HostPort?: string }[]> = this.hostConfig.PortBindings ?? {};
    this.hostConfig.PortBindings = Object.fromEntries(
      Object.entries(published).map(([port, bindings]) => [
        port,
        bindings.map((binding) => ({ ...binding, HostIp: "127.0.0.1" })),
      ]),
    );
  }
}

/** One container under a name. Its process id is the host's, where the host is Linux. */
function createContainerUnit(name: string, container: GenericContainer, isReady: () => Promise<boolean>): Unit {
  let started: StartedTestContainer | undefined;
  let pid: number | undefined;

  const docker = async () => {
    if (!started) throw new Error(`${name} was never started`);
    return (await getContainerRuntimeClient()).container.getById(started.getId());
  };
  const start = async (): Promise<void> => {
    if (started) await (await docker()).start();
    else {
      started = await container.start().catch((error: unknown) => {
        throw new StackError(`${name} could not be started as a container: ${String(error)}`);
      });
    }
    pid = (await (await docker()).inspect()).State.Pid;
    const deadline = performance.now() + READY_TIMEOUT_MS;
    while (!(await isReady().catch(() => false))) {
      if (performance.now() > deadline)
        throw new StackError(`${name} was not ready after ${READY_TIMEOUT_MS / 1000} s`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  };
  return {
    name,
    logFile: `docker logs ${name}`,
    get pid() {
      return pid;
    },
    start,
    kill: async () => {
      if (pid === undefined) return;
      await (await docker()).kill();
      pid = undefined;
    },
    stop: async (deadlineMs = 10_000) => {
      if (pid === undefined) return;
      await (await docker()).stop({ t: Math.ceil(deadlineMs / 1000) });
      pid = undefined;
    },
    hang: async () => {
      await (await docker()).pause();
    },
    resume: async () => {
      await (await docker()).unpause();
    },
  };
}

/** Volumes of different data folders must not meet. */
function volumePrefix(dataDir: string): string {
  return `posthaste-${createHash("sha256").update(dataDir).digest("hex").slice(0, 12)}`;
}
