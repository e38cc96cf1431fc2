/** A whole installation: the four services as processes, on ports and topics of their own, over the run's brokers. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTopicNames, type TopicNames } from "@posthaste/contracts/topics";
import { type ControlClient, createControlClient } from "@posthaste/local-stack/control-client";
import { findFreePorts } from "@posthaste/local-stack/ports";
import { scratchFolder } from "@posthaste/local-stack/scratch-folder";
import { type System, startSystem } from "@posthaste/local-stack/system";
import { deleteTopics, uniqueName } from "@posthaste/testkit/topics";
import { topicPrefixOf } from "./global-setup.ts";

export interface Installation {
  readonly system: System;
  readonly control: ControlClient;
  readonly names: TopicNames;
  readonly dataDir: string;
  /** Processes that ended without anyone asking; a test that expects none says so. */
  readonly unexpectedExits: readonly string[];
  readonly close: () => Promise<void>;
}

export interface InstallationOptions {
  /** Settings such as `POSTHASTE_RETRY_SCHEDULE`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** A cluster of its own instead of the run's brokers: for tests that do something to a broker. */
  readonly brokers?: 1 | 3;
  /** Brokers of its own are made to run long, where those for tests are made to start fast. */
  readonly longLived?: boolean;
  /** A cluster of its own, secured, whose log says each request that was granted or denied. */
  readonly secured?: boolean;
  /** Control's canary goes through it, as under `npm start`. */
  readonly canary?: boolean;
  /** The folder of the run (global-setup.ts) that removes its data and its topics, where nobody closes it. */
  readonly runFolder?: string | undefined;
  /** The folder of another release's sources, whose services run. */
  readonly sources?: string | undefined;
}

/** Starts it; resolves when every service is ready. */
export async function startInstallation(options: InstallationOptions = {}): Promise<Installation> {
  const { settings = {}, longLived, secured = false, brokers = secured ? 1 : undefined, runFolder, sources } = options;
  const { canary = false } = options;
  const prefix = runFolder ? topicPrefixOf(runFolder) + randomBytes(6).toString("hex") : uniqueName("e2e");
  // A benchmark measures a disk.
  const parent = runFolder ?? (longLived ? tmpdir() : scratchFolder(process.env));
  const dataDir = await mkdtemp(join(parent, "posthaste-e2e-"));
  const [ingest = 0, control = 0, first = 0, second = 0, third = 0, fourth = 0] = await findFreePorts(6);
  const unexpectedExits: string[] = [];
  const system = await startSystem({
    dataDir,
    ports: { ingest, control, admin: { ingest: first, router: second, delivery: third, control: fourth } },
    adminToken: randomBytes(12).toString("hex"),
    secretKeys: `e2e:${randomBytes(32).toString("base64")}`,
    shortLived: longLived !== true,
    // The registry takes schemas of any prefix.
    ...(brokers ? { brokers, ignoreNamed: true, schemaRegistry: process.env["SCHEMA_REGISTRY_URL"] } : {}),
    ...(secured ? { security: { logsGranted: true } } : {}),
    // Under vitest's NODE_ENV kafkajs takes other retries than in production.
    env: { ...process.env, NODE_ENV: undefined },
    settings: {
      ...{ POSTHASTE_TOPIC_PREFIX: prefix, POSTHASTE_ALLOW_NETWORKS: "127.0.0.0/8" },
      ...(canary ? { POSTHASTE_CANARY: "true", POSTHASTE_CANARY_ORIGINS: `http://127.0.0.1:${control}` } : {}),
      ...settings,
    },
    sources,
    log: () => {},
    onUnexpectedExit: (name, reason) => unexpectedExits.push(`${name}: ${reason}`),
  }).catch(async (error: unknown) => {
    await rm(dataDir, { recursive: true, force: true });
    throw error;
  });
  return {
    system,
    control: createControlClient(system.controlUrl, system.adminToken),
    names: createTopicNames(prefix),
    dataDir,
    unexpectedExits,
    close: async () => {
      await system.stop();
      // Without brokers of the run, as in a benchmark's short form by hand, the system had its own, which are gone.
      if (!brokers && process.env["KAFKA_BROKERS"]) await deleteTopics(prefix, system.stack.brokers);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
