import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { startLocalStack } from "./local-stack.ts";

const security = { logsGranted: false };

let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "posthaste-local-stack-"));
});

afterEach(async () => {
  await rm(dataDir, { recursive: true });
});

it("secures no cluster of somebody else's", async () => {
  const env = { KAFKA_BROKERS: "127.0.0.1:1", SCHEMA_REGISTRY_URL: "http://127.0.0.1:2" };
  await expect(startLocalStack({ dataDir, env, security, log: () => {} })).rejects.toThrow(
    "--secure: KAFKA_BROKERS names a cluster, which has a security of its own; leave one of the two out",
  );
});

it("LS4: secures no folder that began with containers, and says which setting names another", async () => {
  await mkdir(join(dataDir, "containers"));
  await expect(startLocalStack({ dataDir, env: {}, security, log: () => {} })).rejects.toThrow(
    `--secure: Kafka runs secured as processes only, and ${dataDir} holds containers: set POSTHASTE_DATA_DIR to another folder`,
  );
});
