import { expect, it } from "vitest";
import { startLocalStack } from "./local-stack.ts";
import { shownUrl } from "./shown-url.ts";

it.each([
  ["http://user:hunter2@registry:8081/apis/ccompat/v7", "http://***@registry:8081/apis/ccompat/v7"],
  ["https://user@registry", "https://***@registry"],
  ["http://user:hun/ter2@registry", "http://***@registry"],
  ["user:hunter2@registry:8081", "***@registry:8081"],
  ["http://registry:8081/apis/@v7", "http://registry:8081/apis/@v7"],
  ["127.0.0.1:9092", "127.0.0.1:9092"],
])("shows %s as %s", (text, shown) => {
  expect(shownUrl(text)).toBe(shown);
});

it("names the brokers and the registry that are used without what opens them", async () => {
  const lines: string[] = [];
  const registry = "http://user:hunter2@127.0.0.1:8081/apis/ccompat/v7";
  const stack = await startLocalStack({
    dataDir: "unused",
    env: { KAFKA_BROKERS: "127.0.0.1:9092", SCHEMA_REGISTRY_URL: registry },
    log: (line) => lines.push(line),
  });
  expect(lines).toEqual([
    "using the brokers at 127.0.0.1:9092 and the registry at http://***@127.0.0.1:8081/apis/ccompat/v7",
  ]);
  expect(stack.schemaRegistry).toBe(registry);
});
