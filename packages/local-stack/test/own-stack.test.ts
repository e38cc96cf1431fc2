import { mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { withAdmin } from "@posthaste/testkit/broker";
import { createTopic } from "@posthaste/testkit/topics";
import { afterAll, beforeAll, expect, it } from "vitest";
import { scratchFolder } from "../src/process/scratch-folder.ts";
import { type LocalStack, startLocalStack } from "../src/stack/local-stack.ts";

const SUBJECT = "kept-value";
const SCHEMA = JSON.stringify({ type: "record", name: "Kept", fields: [{ name: "id", type: "string" }] });

let dataDir: string;
let stack: LocalStack;

// The variables that the local command may have been given for control and delivery.
const env = { ...process.env, POSTHASTE_ADMIN_TOKEN: "token-of-the-test", POSTHASTE_SECRET_KEYS: "keys-of-the-test" };

const start = () => startLocalStack({ dataDir, shortLived: true, ignoreNamed: true, env, log: () => {} });

beforeAll(async () => {
  dataDir = await mkdtemp(join(scratchFolder(process.env), "posthaste-own-stack-"));
  stack = await start();
  await createTopic("kept", { brokers: stack.brokers });
});

afterAll(async () => {
  await stack.stop();
  await rm(dataDir, { recursive: true });
});

it("names what it runs", () => {
  expect(stack.processes.map((each) => each.name)).toEqual(["kafka-1", "schema-registry"]);
  expect(stack.brokers).toHaveLength(1);
});

it("gives none of them the secrets that this process was given", async () => {
  for (const { name, pid } of stack.processes) {
    const environment = await readFile(`/proc/${pid}/environ`, "utf8");
    expect(environment).toContain("PATH=");
    expect(environment, name).not.toContain("of-the-test");
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
