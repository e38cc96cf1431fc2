import { expect, it } from "vitest";
import { type RegistryParts, registryCheck } from "./registry-check.ts";

const WELL: RegistryParts = { state: async () => ({ kind: "well" }), topics: async () => [] };
const look = (parts: Partial<RegistryParts>) => registryCheck({ ...WELL, ...parts }).look();
const journal = (settings: Readonly<Record<string, string>>): Partial<RegistryParts> => ({
  topics: async () => [
    { name: "kafkasql-journal", partitions: 1, replicationFactor: 1, settings: new Map(Object.entries(settings)) },
  ],
});

it("names a registry that does not answer, and an id that it lost, with the command that asks for it", async () => {
  expect(await look({})).toEqual([]);
  const silent = await look({ state: async () => ({ kind: "silent", reason: "it answers 500" }) });
  expect(silent).toMatchObject([{ state: "wrong", what: expect.stringContaining("it answers 500") }]);
  const lost = await look({ state: async () => ({ kind: "lost", id: 41 }) });
  expect(lost).toMatchObject([{ state: "wrong", remedy: expect.stringMatching(/schemas\/ids\/41$/) }]);
});

it("names topics of a registry whose records Kafka deletes after a time", async () => {
  const deleted = { "cleanup.policy": "delete", "retention.ms": "604800000" };
  expect(await look(journal(deleted))).toMatchObject([
    {
      state: "wrong",
      what: "Kafka deletes the registry's schemas: retention.ms of kafkasql-journal is 604800000.",
      remedy: expect.stringMatching(/^kafka-configs\.sh .* --entity-name kafkasql-journal .*retention\.ms=-1$/),
    },
  ]);
  expect(await look(journal({ ...deleted, "retention.ms": "-1" }))).toEqual([]);
  expect(await look({ topics: () => Promise.reject(new Error("no broker answers")) })).toEqual([]);
  expect(await look(journal({ ...deleted, "cleanup.policy": "compact" }))).toEqual([]);
});
