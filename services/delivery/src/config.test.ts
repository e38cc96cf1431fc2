import { expect, it } from "vitest";
import { deliverySettings } from "./config.ts";

const REQUIRED = {
  KAFKA_BROKERS: "127.0.0.1:9092",
  SCHEMA_REGISTRY_URL: "http://127.0.0.1:8081",
  POSTHASTE_SECRET_KEYS: `k1:${Buffer.alloc(32).toString("base64")}`,
};

it("has the retries of the decisions when nothing else is asked for", () => {
  const settings = deliverySettings.parse(REQUIRED);
  expect(settings.POSTHASTE_RETRY_WINDOW).toBe(4 * 3_600_000);
  expect(settings.POSTHASTE_RETRY_SCHEDULE.map((delayMs) => delayMs / 1000)).toEqual([
    10, 30, 60, 300, 900, 1800, 3600, 3600, 3600,
  ]);
  expect(settings.POSTHASTE_ALLOW_NETWORKS).toEqual([]);
  expect(settings.POSTHASTE_DENY_NETWORKS).toEqual([]);
  expect(settings.POSTHASTE_WEBHOOK_PORTS).toEqual([]);
});

it("reads a schedule, a window, networks and a share of the attempt log", () => {
  const settings = deliverySettings.parse({
    ...REQUIRED,
    POSTHASTE_RETRY_SCHEDULE: "250ms,2s",
    POSTHASTE_RETRY_WINDOW: "10s",
    POSTHASTE_ALLOW_NETWORKS: "127.0.0.0/8,::1/128",
    POSTHASTE_DENY_NETWORKS: "203.0.112.0/24",
    POSTHASTE_WEBHOOK_PORTS: "80,443",
    POSTHASTE_CANARY_ORIGINS: "http://control-0:8090,http://control-1:8090",
    POSTHASTE_ATTEMPT_LOG: "0.25",
  });
  expect(settings.POSTHASTE_RETRY_SCHEDULE).toEqual([250, 2000]);
  expect(settings.POSTHASTE_RETRY_WINDOW).toBe(10_000);
  expect(settings.POSTHASTE_ALLOW_NETWORKS).toEqual(["127.0.0.0/8", "::1/128"]);
  expect(settings.POSTHASTE_DENY_NETWORKS).toEqual(["203.0.112.0/24"]);
  expect(settings.POSTHASTE_WEBHOOK_PORTS).toEqual([80, 443]);
  expect(settings.POSTHASTE_CANARY_ORIGINS).toEqual(["http://control-0:8090", "http://control-1:8090"]);
  expect(settings.POSTHASTE_ATTEMPT_LOG).toEqual({ failures: true, deliveredShare: 0.25 });
});

it.each([
  ["POSTHASTE_RETRY_SCHEDULE", "0s"],
  ["POSTHASTE_RETRY_SCHEDULE", "soon"],
  ["POSTHASTE_ATTEMPT_LOG", "some"],
  ["POSTHASTE_DELIVERY_WINDOW", "0"],
  ["POSTHASTE_DENY_NETWORKS", "10.0.0.0"],
  ["POSTHASTE_WEBHOOK_PORTS", "http"],
  ["POSTHASTE_CANARY_ORIGINS", "http://control:8090/canary"],
  ["POSTHASTE_SECRET_KEYS", "k1:AAAA"],
])("refuses %s=%s, naming it", (name, value) => {
  const result = deliverySettings.safeParse({ ...REQUIRED, [name]: value });
  expect(result.error?.issues.map(({ path }) => path.join("."))).toEqual([name]);
});
