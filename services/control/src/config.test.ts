import { randomBytes } from "node:crypto";
import { readConfig } from "@posthaste/runtime/config";
import { describe, expect, it } from "vitest";
import { controlSettings } from "./config.ts";

const env = {
  KAFKA_BROKERS: "127.0.0.1:9092",
  SCHEMA_REGISTRY_URL: "http://127.0.0.1:8081",
  POSTHASTE_ADMIN_TOKEN: "token",
  POSTHASTE_SECRET_KEYS: `k1:${randomBytes(32).toString("base64")}`,
};
const read = (more: Readonly<Record<string, string>>) => readConfig(controlSettings, { ...env, ...more });

describe("control's settings", () => {
  it("need brokers, a registry, a token and a secret key; the rest has defaults", () => {
    expect(read({})).toMatchObject({
      POSTHASTE_TOPIC_PREFIX: "posthaste",
      POSTHASTE_CONTROL_PORT: 8090,
      POSTHASTE_READY_URLS: [],
      POSTHASTE_ALLOW_NETWORKS: [],
    });
    expect(() => readConfig(controlSettings, {})).toThrow(
      /KAFKA_BROKERS is not set[\s\S]*SCHEMA_REGISTRY_URL is not set[\s\S]*POSTHASTE_ADMIN_TOKEN is not set[\s\S]*POSTHASTE_SECRET_KEYS is not set/,
    );
  });

  it("hold audiences to rates that leave live events their cores, where nothing else is said", () => {
    expect(read({})).toMatchObject({ POSTHASTE_AUDIENCE_RATE: 500, POSTHASTE_AUDIENCE_SYNC_RATE: 5000 });
  });

  it("have a process do all of control's work, where no role is named", () => {
    const rolesOf = (more: Readonly<Record<string, string>>) => read(more).POSTHASTE_CONTROL_ROLES;
    expect([rolesOf({}), rolesOf({ POSTHASTE_CONTROL_ROLES: "jobs" })]).toEqual([["api", "jobs"], ["jobs"]]);
  });

  it("name the services that readiness asks", () => {
    const urls = "ingest=http://127.0.0.1:9101/readyz,router=https://router.example/readyz";
    expect(read({ POSTHASTE_READY_URLS: urls }).POSTHASTE_READY_URLS).toEqual([
      { name: "ingest", url: "http://127.0.0.1:9101/readyz" },
      { name: "router", url: "https://router.example/readyz" },
    ]);
  });

  it.each([
    [{ POSTHASTE_CONTROL_ROLES: "api,worker" }, /POSTHASTE_CONTROL_ROLES: expected api, jobs, or both/],
    [{ POSTHASTE_READY_URLS: "http://a/readyz" }, /POSTHASTE_READY_URLS: .*name=URL.*found "http:\/\/a\/readyz"/],
    [{ POSTHASTE_READY_URLS: "ingest=nowhere" }, /POSTHASTE_READY_URLS: .*found "ingest=nowhere"/],
    [{ POSTHASTE_SECRET_KEYS: "k1:c2hvcnQ=" }, /POSTHASTE_SECRET_KEYS: entry 1 \("k1"\): expected base64 of 32 bytes/],
    [
      { POSTHASTE_ALLOW_NETWORKS: "10.0.0.0" },
      /POSTHASTE_ALLOW_NETWORKS: "10.0.0.0" is not a network: expected a CIDR/,
    ],
    [{ POSTHASTE_DENY_NETWORKS: "10.0.0.0" }, /POSTHASTE_DENY_NETWORKS: "10.0.0.0" is not a network/],
    [
      { POSTHASTE_WEBHOOK_PORTS: "http" },
      /POSTHASTE_WEBHOOK_PORTS: "http" is not a port: expected ports from 1 to 65535/,
    ],
    [{ POSTHASTE_ADMIN_TOKEN: "two words" }, /POSTHASTE_ADMIN_TOKEN: expected a token of printable ASCII/],
    [{ SCHEMA_REGISTRY_URL: "registry" }, /SCHEMA_REGISTRY_URL: expected the registry's URL/],
  ])("are refused by name with what was expected: %j", (more, message) => {
    expect(() => read(more)).toThrow(message);
  });

  it("show no part of a password in a refused URL", () => {
    for (const url of [
      "ftp://user:hunter2@a/readyz",
      "http://user:hun/ter2@a/readyz",
      "http://user:hunter2,x@a/readyz",
    ]) {
      expect(() => read({ POSTHASTE_READY_URLS: `router=http://b/readyz,ingest=${url}` })).toThrow(
        /name=URL.*found another thing in entry 2$/m,
      );
    }
  });

  it("show no part of a secret key in a refusal", () => {
    const key = randomBytes(16).toString("base64");
    let message = "";
    try {
      read({ POSTHASTE_SECRET_KEYS: `k1:${key}` });
    } catch (error) {
      message = String(error);
    }
    expect(message).toContain("POSTHASTE_SECRET_KEYS");
    expect(message).not.toContain(key.slice(0, 10));
  });
});
