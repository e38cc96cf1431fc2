import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "@posthaste/testkit/eventually";
import { createTopic } from "@posthaste/testkit/topics";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ClusterView, createClusterView, type PartitionView } from "../src/broker/cluster-view.ts";
import { scratchFolder } from "../src/process/scratch-folder.ts";
import type { StackProcess } from "../src/process/stack-process.ts";
import { type LocalStack, startLocalStack } from "../src/stack/local-stack.ts";

const faultTimeout = { timeoutMs: 60_000, intervalMs: 100 };

let dataDir: string;
let stack: LocalStack;

beforeAll(async () => {
  dataDir = await mkdtemp(join(scratchFolder(process.env), "posthaste-three-brokers-"));
  const options = {
    dataDir,
    brokers: 3,
    shortLived: true,
    ignoreNamed: true,
    env: process.env,
    log: () => {},
  } as const;
  stack = await startLocalStack(options);
  await createTopic("kept", { replicationFactor: 3, brokers: stack.brokers });
});

afterAll(async () => {
  await stack.stop();
  await rm(dataDir, { recursive: true });
});

function broker(name: string | undefined): StackProcess {
  const found = stack.processes.find((candidate) => candidate.name === name);
  if (!found) throw new Error(`no broker ${name}`);
  return found;
}

async function keptPartition(view: ClusterView): Promise<PartitionView | undefined> {
  return (await view.partitions()).find(({ topic, partition }) => topic === "kept" && partition === 0);
}

/** One broker may hear of a leader later than another, and whichever answers first is believed. */
const keptLeader = (view: ClusterView): Promise<string> =>
  eventually(async () => {
    const leader = await view.leaderOf("kept", 0);
    if (leader === undefined) throw new Error("nobody leads it yet");
    return leader;
  }, faultTimeout);

it("names what it runs", () => {
  expect(stack.processes.map((each) => each.name)).toEqual(["kafka-1", "kafka-2", "kafka-3", "schema-registry"]);
  expect(stack.brokers).toHaveLength(3);
});

it("says who leads a partition, who coordinates a group and who is the active controller", async () => {
  const view = createClusterView(stack);
  const names = ["kafka-1", "kafka-2", "kafka-3"];
  expect(names).toContain(await keptLeader(view));
  expect(names).toContain(await eventually(() => view.activeController(), faultTimeout));
  expect(await eventually(() => view.coordinatorOf("some-group"), faultTimeout)).toSatisfy((name: string) =>
    names.includes(name),
  );
});

it("gives a partition another leader when its leader is killed, and takes the broker back", async () => {
  const view = createClusterView(stack);
  const leader = await keptLeader(view);
  await broker(leader).kill();
  for (const ask of [keptLeader, async () => (await keptPartition(view))?.leader]) {
    await eventually(async () => expect([undefined, leader]).not.toContain(await ask(view)), faultTimeout);
  }
  await broker(leader).start();
  await eventually(async () => {
    const kept = await keptPartition(view);
    expect([...(kept?.inSync ?? [])].sort()).toEqual(["kafka-1", "kafka-2", "kafka-3"]);
    expect(kept?.replicas).toHaveLength(3);
  }, faultTimeout);
});

it("has another active controller while the old one hangs", async () => {
  const view = createClusterView(stack);
  const active = await eventually(() => view.activeController(), faultTimeout);
  await broker(active).hang();
  try {
    await eventually(async () => expect(await view.activeController()).not.toBe(active), faultTimeout);
  } finally {
    await broker(active).resume();
  }
});
