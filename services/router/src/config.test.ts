import { expect, it } from "vitest";
import { routerSettings } from "./config.ts";

const REQUIRED = { KAFKA_BROKERS: "127.0.0.1:9092", SCHEMA_REGISTRY_URL: "http://127.0.0.1:8081" };

it("remembers a hundred thousand ids for ten minutes when nothing else is asked for", () => {
  expect(routerSettings.parse(REQUIRED)).toMatchObject({
    POSTHASTE_DEDUPE_WINDOW: 600_000,
    POSTHASTE_DEDUPE_IDS: 100_000,
    POSTHASTE_TOPIC_PREFIX: "posthaste",
  });
});

it.each([
  ["POSTHASTE_DEDUPE_WINDOW", "ten minutes"],
  ["POSTHASTE_DEDUPE_IDS", "-1"],
  ["SCHEMA_REGISTRY_URL", "registry"],
])("refuses %s=%s, naming it", (name, value) => {
  const result = routerSettings.safeParse({ ...REQUIRED, [name]: value });
  expect(result.error?.issues.map(({ path }) => path.join("."))).toEqual([name]);
});
