import { kafkaBrokers } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { openRegistryGateway, type RegistryGateway } from "@posthaste/testkit/registry-gateway";
import { deleteTopics, uniqueName } from "@posthaste/testkit/topics";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runTopicsProgram, topicsProgram } from "../src/services/topics-program.ts";

const WAITING = "the schema registry at SCHEMA_REGISTRY_URL does not answer: trying on";

let prefix: string;
let registry: RegistryGateway;
let progress: string[];

beforeEach(async () => {
  prefix = uniqueName("topics-program");
  registry = await openRegistryGateway();
  progress = [];
});

afterEach(async () => {
  await registry.close();
  await deleteTopics(prefix);
});

function run(settings: Readonly<Record<string, string>> = {}): Promise<void> {
  const program = topicsProgram({
    brokers: kafkaBrokers(),
    schemaRegistry: registry.url,
    env: { PATH: process.env["PATH"], POSTHASTE_TOPIC_PREFIX: prefix, POSTHASTE_PARTITIONS: "1", ...settings },
  });
  return runTopicsProgram(program, (line) => progress.push(line));
}

it("says what it waits for while the registry does not answer, and goes on when it does", async () => {
  registry.refuse();
  const done = run();
  await eventually(() => expect(progress).toContain(WAITING));
  registry.allow();
  await expect(done).resolves.toBeUndefined();
});

it("fails with the program's own sentence, and with nothing of its log", async () => {
  await expect(run({ POSTHASTE_PARTITIONS: "257" })).rejects.toThrow(
    /^the topics could not be made: .*POSTHASTE_PARTITIONS: .*256/s,
  );
  expect(progress).toEqual([]);
});
