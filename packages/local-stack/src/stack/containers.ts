/**
 * Runs the stack in containers, by testcontainers, whose reaper ends them when this process ends, however it ends. The
 * containers keep their state in named volumes, of which each data folder has its own. Each container is a
 * `ContainerProcess`.
 */
import { createHash } from "node:crypto";
import { GenericContainer, getContainerRuntimeClient, Network, type StartedNetwork, Wait } from "testcontainers";
import { brokerIsInCluster } from "../broker/cluster-view.ts";
import { type ClusterLayout, kafkaSettings, toImageEnvironment } from "../broker/kafka-properties.ts";
import { ContainerProcess, READY_TIMEOUT_MS } from "../process/container-process.ts";
import { findFreePorts } from "../process/ports.ts";
import type { LocalStackOptions, PreparedStack } from "./prepared-stack.ts";
import { CONFLUENT_API_PATH } from "./registry-process.ts";

/** The versions are the versions of java/pom.xml; Kafka's digest is the one of deploy/kafka/Dockerfile. */
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

/** Returns the processes `kafka-1` … and `schema-registry`, not started yet. The first start pulls their images. */
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

/** The settings that the containers of a data folder share. */
interface Place {
  readonly network: StartedNetwork;
  /** The beginning of the names of their volumes. */
  readonly volume: string;
}

interface BrokerContainerOptions {
  readonly place: Place;
  readonly layout: ClusterLayout;
  /** The ports of this machine that lead to the container. */
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
    // The image's own user may not write to a new volume.
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
 * Makes a container and publishes its ports on 127.0.0.1. By default Docker publishes ports on every address of the
 * machine, past its firewall, and neither Kafka nor the registry authenticates callers.
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

/** Returns a name that depends on the data folder, since different folders must not share volumes. */
function volumePrefix(dataDir: string): string {
  return `posthaste-${createHash("sha256").update(dataDir).digest("hex").slice(0, 12)}`;
}
