import { ConfigError, readConfig } from "@posthaste/runtime/config";
import { expect, it } from "vitest";
import { ingestSettings } from "./config.ts";

const REQUIRED = { KAFKA_BROKERS: "a:9092", SCHEMA_REGISTRY_URL: "http://registry:8081/apis/ccompat/v7" };

it("needs the brokers and the registry, and has a default for the rest", () => {
  expect(readConfig(ingestSettings, REQUIRED)).toMatchObject({
    KAFKA_BROKERS: ["a:9092"],
    POSTHASTE_INGEST_PORT: 8080,
    POSTHASTE_TRUSTED_PROXIES: [],
    POSTHASTE_TOPIC_PREFIX: "posthaste",
    POSTHASTE_SOURCE_CALLS_PER_SECOND: 10_000,
    POSTHASTE_SOURCE_BYTES_PER_SECOND: 16_000_000,
  });
});

it("takes addresses and networks of proxies", () => {
  const networks = "10.0.0.0/8, 192.0.2.1 ,fd00::/8,::1";
  expect(
    readConfig(ingestSettings, { ...REQUIRED, POSTHASTE_TRUSTED_PROXIES: networks }).POSTHASTE_TRUSTED_PROXIES,
  ).toEqual(["10.0.0.0/8", "192.0.2.1", "fd00::/8", "::1"]);
});

it.each([
  ["KAFKA_BROKERS", ","],
  ["SCHEMA_REGISTRY_URL", "registry"],
  ["POSTHASTE_INGEST_PORT", "99999"],
  ["POSTHASTE_TRUSTED_PROXIES", "proxy.internal"],
  ["POSTHASTE_TRUSTED_PROXIES", "10.0.0.0/33"],
  ["POSTHASTE_TRUSTED_PROXIES", "10.0.0.0/8/8"],
  ["POSTHASTE_SOURCE_CALLS_PER_SECOND", "0"],
  ["POSTHASTE_SOURCE_BYTES_PER_SECOND", "0"],
  ["POSTHASTE_INGEST_PENDING_BYTES", "many"],
])("%s=%s stops the start, with the variable's name", (name, value) => {
  const read = () => readConfig(ingestSettings, { ...REQUIRED, [name]: value });
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(name);
});
