import { mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { withAdmin } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { createTopic } from "@posthaste/testkit/topics";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ClusterView, createClusterView, type PartitionView } from "../src/broker/cluster-view.ts";
import { scratchFolder } from "../src/process/scratch-folder.ts";
import type { StackProcess } from "../src/process/stack-process.ts";
import { type LocalStack, startLocalStack } from "../src/stack/local-stack.ts";

const SUBJECT = "kept-value";
const SCHEMA = JSON.stringify({ type: "record", name: "Kept", fields: [{ name: "id", type: "string" }] });
const faultTimeout = { timeoutMs: 60_000, intervalMs: 100 };

let dataDir: string;
let stack: LocalStack;

// What the local command may have been given for control and delivery.
const env = { ...process.env, POSTHASTE_ADMIN_TOKEN: "token-of-the-test", POSTHASTE_SECRET_KEYS: "keys-of-the-test" };

const start = () => startLocalStack({ dataDir, brokers: 3, shortLived: true, ignoreNamed: true, env, log: () => {} });

beforeAll(async () => {
  dataDir = await mkdtemp(join(scratchFolder(process.env), "posthaste-three-brokers-"));
  stack = await start();
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

it("gives none of them the secrets that this process was given", async () => {
  for (const { name, pid } of stack.processes) {
    const environment = await readFile(`/proc/${pid}/environ`, "utf8");
    expect(environment).toContain("PATH=");
    expect(environment, name).not.toContain("of-the-test");
  }
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

it("LS2: knows its topics and schemas when it is started again in the same folder", async () => {
  const register = await fetch(`${stack.schemaRegistry}/subjects/${SUBJECT}/versions`, {
    method: "POST",
    headers: { "content-type": "application/vnd.schemaregistry.v1+json" },
    body: JSON.stringify({ schema: SCHEMA }),
  });
  const { id } = (await register.json()) as { id: number };
  await stack.stop();
  stack = await start();
  const topics = await withAdmin((admin) => admin.listTopics(), stack.brokers);
  expect(topics).toContain("kept");
  const kept = await fetch(`${stack.schemaRegistry}/schemas/ids/${id}`);
  expect(((await kept.json()) as { schema: string }).schema).toContain("Kept");
});

it("starts each from the classes that its Java has kept", async () => {
  for (const { name, pid } of stack.processes) {
    const file = name === "schema-registry" ? "registry.jsa" : "kafka.jsa";
    expect(await readFile(`/proc/${pid}/maps`, "utf8"), name).toContain(file);
  }
});
