/**
 * Provides real Kafka and a real schema registry on this machine: those that the environment names, else containers
 * where Docker answers, else the same software as plain processes.
 *
 * Owns: the brokers and the registry that it started, and none that the environment named.
 * - Everything that the stack started ends with this process, whatever ends this process (GP1 of guarded-process.ts).
 * LS2  All of the stack's state lies in `dataDir`: a stack that is started there again knows its topics and schemas.
 * - `start` answers when every broker and the registry answer.
 * LS4  A folder that began with containers stays with containers, and one that began with processes with processes,
 *      since neither reads the other's state. A new folder takes processes when containers do not start, as where no
 *      image can be pulled.
 */
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { prepareKafka } from "../broker/kafka-processes.ts";
import { findJavaParts } from "../parts/java-parts.ts";
import { StackError } from "../process/stack-error.ts";
import type { StackProcess } from "../process/stack-process.ts";
import { withoutKafkaSettings, withoutSecrets } from "../services/services.ts";
import { dockerAnswers, prepareContainers } from "./containers.ts";
import type { LocalStackOptions, PreparedStack, SecuredKafka } from "./prepared-stack.ts";
import { prepareRegistry } from "./registry-process.ts";
import { shownUrl } from "./shown-url.ts";
import { keepWarmStart } from "./warm-start.ts";

export interface LocalStack {
  /** `host:port` of each broker. */
  readonly brokers: readonly string[];
  /** `host:port` of each controller; empty for a named stack. */
  readonly controllers: readonly string[];
  /** URL of the registry's Confluent API. */
  readonly schemaRegistry: string;
  /** The operator's access, where Kafka is secured. */
  readonly secured?: SecuredKafka | undefined;
  /** The processes that the stack started, in the order of their start; empty for a named stack. */
  readonly processes: readonly StackProcess[];
  /** Ends the processes that the stack started, the brokers last. */
  readonly stop: (deadlineMs?: number) => Promise<void>;
}

/**
 * Starts the stack. Throws StackError for a fault that the person at the terminal can mend; nothing is left running
 * then.
 */
export async function startLocalStack(options: LocalStackOptions): Promise<LocalStack> {
  const { env, log, dataDir } = options;
  if (env["KAFKA_BROKERS"] && !options.ignoreNamed) {
    if (options.security) throw new StackError(SECURED_BY_ITSELF);
    return namedStack(env["KAFKA_BROKERS"], env["SCHEMA_REGISTRY_URL"], log);
  }
  const [processes, containers] = [join(dataDir, "processes"), join(dataDir, "containers")];
  if (options.security) {
    if (existsSync(containers) && !existsSync(processes)) throw new StackError(securedContainers(dataDir));
  } else if (!existsSync(processes) && (await dockerAnswers())) {
    try {
      const stack = await startPrepared(await prepareContainers(options), log);
      await mkdir(containers, { recursive: true });
      return stack;
    } catch (error) {
      // The folder's state is in the containers' volumes (LS4).
      if (existsSync(containers)) throw error;
      log(`containers cannot be used, processes instead: ${String(error).split("\n")[0]}`);
    }
  }
  return startPrepared(await prepareProcesses(options, processes), log);
}

const SECURED_BY_ITSELF =
  "--secure: KAFKA_BROKERS names a cluster, which has a security of its own; leave one of the two out";

function securedContainers(dataDir: string): string {
  return (
    `--secure: Kafka runs secured as processes only, and ${dataDir} holds containers: ` +
    "set POSTHASTE_DATA_DIR to another folder"
  );
}

async function startPrepared(prepared: PreparedStack, log: (line: string) => void): Promise<LocalStack> {
  const { cluster, schemaRegistry, secured, kafka, registry } = prepared;
  const processes = [...kafka, ...(registry ? [registry] : [])];
  log(`starting ${processes.map((each) => each.name).join(", ")}`);
  try {
    await Promise.all(processes.map((each) => each.start()));
  } catch (error) {
    await Promise.all(processes.map((each) => each.kill()));
    throw error;
  }
  return {
    ...cluster,
    schemaRegistry,
    secured,
    processes,
    stop: async (deadlineMs = 5_000) => {
      await registry?.stop(deadlineMs);
      await Promise.all(kafka.map((each) => each.stop(deadlineMs)));
    },
  };
}

function namedStack(brokers: string, registry: string | undefined, log: (line: string) => void): LocalStack {
  if (!registry) throw new StackError("KAFKA_BROKERS is set: set SCHEMA_REGISTRY_URL too, or neither");
  log(`using the brokers at ${shownUrl(brokers)} and the registry at ${shownUrl(registry)}`);
  return {
    brokers: brokers.split(","),
    controllers: [],
    schemaRegistry: registry,
    processes: [],
    stop: async () => {},
  };
}

async function prepareProcesses(options: LocalStackOptions, dataDir: string): Promise<PreparedStack> {
  const { log, shortLived = false, onUnexpectedExit = () => {} } = options;
  const env = withoutSecrets(withoutKafkaSettings(options.env));
  const parts = await findJavaParts({ env, log });
  const warm = await keepWarmStart({ parts, env, log });
  const common = { dataDir, shortLived, env, onUnexpectedExit };
  const [kafka, registry] = await Promise.all([
    prepareKafka({
      ...common,
      ...{ jars: parts.kafka, classes: warm.kafkaClasses, formatted: warm.formatted },
      count: options.brokers ?? 1,
      ...(options.security
        ? { security: { mechanisms: ["scram-sha-512"], ungranted: "nothing", ...options.security } }
        : {}),
    }),
    options.schemaRegistry
      ? { url: options.schemaRegistry, process: undefined }
      : prepareRegistry({ ...common, distribution: parts.registry, classes: warm.registryClasses }),
  ]);
  const { operator, authorityFile } = kafka;
  return {
    cluster: kafka.addresses,
    schemaRegistry: registry.url,
    secured: authorityFile === undefined ? undefined : { operator, authorityFile },
    kafka: kafka.processes,
    registry: registry.process,
  };
}
