/**
 * The stack as containers, through testcontainers. Its reaper ends them when this process goes, however it goes; state
 * is kept in named volumes, one set a data folder. Each container is a `ContainerProcess`.
 */
import { createHash } from "node:crypto";
import { GenericContainer, getContainerRuntimeClient, Network, type StartedNetwork, Wait } from "testcontainers";
import { brokerIsInCluster } from "./cluster-view.ts";
import { ContainerProcess, READY_TIMEOUT_MS } from "./container-process.ts";
import { type ClusterLayout, kafkaSettings, toImageEnvironment } from "./kafka-properties.ts";
import { findFreePorts } from "./ports.ts";
import type { LocalStackOptions, PreparedStack } from "./prepared-stack.ts";
import { CONFLUENT_API_PATH } from "./registry-process.ts";

/** The versions are those of java/pom.xml; Kafka's digest is the one of deploy/compose.yaml. */
const KAFKA_IMAGE = "apache/kafka:4.1.0@sha256:bff074a5d0051dbc0bbbcd25b045bb1fe84833ec0d3c7c965d1797dd289ec88f";
const REGISTRY_IMAGE = "apicurio/apicurio-registry-mem:2.6.13.Final";

const CLIENT_PORT = 9092;
const CONTROLLER_PORT = 9093;
const BROKER_PORT = 19_092;
const REGISTRY_PORT = 8080;
const KAFKA_DATA = "/var/lib/kafka/data";
const REGISTRY_DATA = "/var/lib/registry";

/** True when a container runtime answers. */
export async function dockerAnswers(): Promise<boolean> {
  return getContainerRuntimeClient().then(
    () => true,
    () => false,
  );
}

/** Processes `kafka-1` … and `schema-registry`, not started yet. Pulls nothing: the first start does. */
export async function prepareContainers(options: LocalStackOptions): Promise<PreparedStack> {
  const { dataDir, brokers: count = 1 } = options;
  const ids = Array.from({ length: count }, (_, index) => index + 1);
  const ports = await findFreePorts(count * 2 + 1);
  const port = (index: number): number => ports[index] ?? 0;
  const place: Place = { network: await new Network().start(), volume: volumePrefix(dataDir) };
  const layout = {
    count,
    clientAddress: (id: number) => `127.0.0.1:${port(id - 1)}`,
    clientPort: CLIENT_PORT,
    brokerAddress: (id: number) => `kafka-${id}:${BROKER_PORT}`,
    controllerAddress: (id: number) => `kafka-${id}:${CONTROLLER_PORT}`,
    bindHost: "0.0.0.0",
  };
  const registryPort = port(count * 2);
  return {
    cluster: {
      brokers: ids.map(layout.clientAddress),
      controllers: ids.map((id) => `127.0.0.1:${port(count + id - 1)}`),
    },
    schemaRegistry: registryUrl(registryPort),
    kafka: ids.map((id) =>
      brokerContainer(id, { place, layout, clientPort: port(id - 1), controllerPort: port(count + id - 1) }),
    ),
    registry: registryContainer(place, registryPort),
  };
}

/** What the containers of one data folder share. */
interface Place {
  readonly network: StartedNetwork;
  /** What their volumes' names begin with. */
  readonly volume: string;
}

interface BrokerContainerOptions {
  readonly place: Place;
  readonly layout: ClusterLayout;
  /** The ports of this machine that lead to it. */
  readonly clientPort: number;
  readonly controllerPort: number;
}

function brokerContainer(id: number, options: BrokerContainerOptions): ContainerProcess {
  const { place, layout, clientPort, controllerPort } = options;
  const name = `kafka-${id}`;
  const container = new LoopbackContainer(KAFKA_IMAGE)
    .withNetwork(place.network)
    .withNetworkAliases(name)
    .withEnvironment(toImageEnvironment(kafkaSettings(id, layout, KAFKA_DATA)))
    .withBindMounts([{ source: `${place.volume}-${name}`, target: KAFKA_DATA }])
    .withExposedPorts(
      { container: CLIENT_PORT, host: clientPort },
      { container: CONTROLLER_PORT, host: controllerPort },
    )
    .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
    .withStartupTimeout(READY_TIMEOUT_MS);
  return new ContainerProcess({ name, container, isReady: () => brokerIsInCluster(layout.clientAddress(id), id) });
}

function registryContainer({ volume }: Place, port: number): ContainerProcess {
  const name = "schema-registry";
  const container = new LoopbackContainer(REGISTRY_IMAGE)
    // The image's own user may not write to a fresh volume.
    .withUser("root")
    .withEnvironment({ QUARKUS_DATASOURCE_JDBC_URL: `jdbc:h2:file:${REGISTRY_DATA}/schema-registry` })
    .withBindMounts([{ source: `${volume}-${name}`, target: REGISTRY_DATA }])
    .withExposedPorts({ container: REGISTRY_PORT, host: port })
    .withWaitStrategy(Wait.forListeningPorts())
    .withStartupTimeout(READY_TIMEOUT_MS);
  return new ContainerProcess({
    name,
    container,
    isReady: async () => (await fetch(`${registryUrl(port)}/subjects`)).ok,
  });
}

function registryUrl(port: number): string {
  return `http://127.0.0.1:${port}${CONFLUENT_API_PATH}`;
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

/** Volumes of different data folders must not meet. */
function volumePrefix(dataDir: string): string {
  return `posthaste-${createHash("sha256").update(dataDir).digest("hex").slice(0, 12)}`;
}
