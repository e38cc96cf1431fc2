/**
 * Real Kafka and a real schema registry for this machine: those that the environment names, else containers where
 * Docker answers, else the same software as plain processes.
 *
 * Owns: what it started, and nothing that was named.
 * LS1  What it started ends with this process, whatever ends this process (GP1 of guarded-process.ts).
 * LS2  Everything that is kept lies in `dataDir`: a stack started again there knows its topics and schemas.
 * LS3  `start` answers when every broker and the registry do.
 * LS4  A folder stays with what it began with, containers or processes, since neither reads the other's state. A fresh
 *      folder takes processes when containers do not start, as where no image can be pulled.
 */
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { dockerAnswers, prepareContainers } from "./containers.ts";
import { findJavaParts } from "./java-parts.ts";
import { prepareKafka } from "./kafka-processes.ts";
import type { LocalStackOptions, PreparedStack, SecuredKafka } from "./prepared-stack.ts";
import { prepareRegistry } from "./registry-process.ts";
import { withoutKafkaSettings, withoutSecrets } from "./services.ts";
import { shownUrl } from "./shown-url.ts";
import { StackError } from "./stack-error.ts";
import type { StackProcess } from "./stack-process.ts";
import { keepWarmStart } from "./warm-start.ts";

export interface LocalStack {
  /** `host:port` of each broker. */
  readonly brokers: readonly string[];
  /** `host:port` of each controller; empty for a named stack. */
  readonly controllers: readonly string[];
  /** URL of the registry's Confluent API. */
  readonly schemaRegistry: string;
  /** Where Kafka is secured: how to get at it. */
  readonly secured?: SecuredKafka | undefined;
  /** What was started here, in the order of the start; empty for a named stack. */
  readonly processes: readonly StackProcess[];
  /** Ends what was started here, brokers last. */
  readonly stop: (deadlineMs?: number) => Promise<void>;
}

/** Starts the stack. Throws StackError for what the person at the terminal can mend; nothing is left running then. */
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
      // LS4: the state is in the containers' volumes.
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
  const processes = [...kafka, registry];
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
      await registry.stop(deadlineMs);
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
    prepareRegistry({ ...common, distribution: parts.registry, classes: warm.registryClasses }),
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
