import { fileURLToPath } from "node:url";
import { schemaRegistryUrl } from "@posthaste/testkit/broker";
import { runNode } from "@posthaste/testkit/run-node";
import { type SecuredBroker, startSecuredBroker } from "@posthaste/testkit/secured-broker";
import { uniqueName } from "@posthaste/testkit/topics";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const PROGRAM = fileURLToPath(new URL("../src/topics-main.ts", import.meta.url));
const USER = { name: "topics", password: "a-good-password" };
const prefix = uniqueName("secured-topics");

let secured: SecuredBroker;
beforeAll(async () => {
  secured = await startSecuredBroker([USER]);
});
afterAll(() => secured?.stop());

/** Runs the program at the secured broker, by settings alone. */
function run(env: Readonly<Record<string, string>> = {}) {
  return runNode([PROGRAM, "--dry-run"], {
    env: {
      PATH: process.env.PATH,
      KAFKA_BROKERS: secured.broker,
      KAFKA_TLS: "true",
      KAFKA_TLS_CA_FILE: secured.authorityFile,
      KAFKA_SASL_MECHANISM: "scram-sha-512",
      KAFKA_SASL_USERNAME: USER.name,
      KAFKA_SASL_PASSWORD: USER.password,
      SCHEMA_REGISTRY_URL: schemaRegistryUrl(),
      POSTHASTE_TOPIC_PREFIX: prefix,
      ...env,
    },
  });
}

describe("the program that makes the topics, at brokers that want a login over TLS", () => {
  it("does its work by the settings of every process", async () => {
    expect(await run()).toEqual({ code: 0, stdout: expect.stringContaining(`+ ${prefix}.events`), stderr: "" });
  });

  it("says what to change when it is refused, and ends with 1, without the password in what it says", async () => {
    const { code, stderr } = await run({ KAFKA_SASL_PASSWORD: "another-password" });
    expect(code).toBe(1);
    expect(stderr).toMatch(/KAFKA_SASL_USERNAME topics .*KAFKA_SASL_PASSWORD/);
    expect(stderr).not.toContain("another-password");
  });

  it("does not begin with settings that contradict each other, names them and ends with 2", async () => {
    const { code, stderr } = await run({ KAFKA_TLS: "", KAFKA_SASL_PASSWORD_FILE: secured.authorityFile });
    expect(code).toBe(2);
    expect(stderr).toContain("KAFKA_SASL_PASSWORD_FILE: ");
    const tls = await run({ KAFKA_TLS: "" });
    expect([tls.code, tls.stderr]).toEqual([
      2,
      expect.stringContaining("KAFKA_TLS_CA_FILE: set KAFKA_TLS to true too"),
    ]);
  });
});
