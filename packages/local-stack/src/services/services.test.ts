import { expect, it } from "vitest";
import { SERVICE_NAMES, serviceEnvironment, withoutKafkaSettings, withoutSecrets } from "./services.ts";
import { topicsProgram } from "./topics-program.ts";

const options = {
  brokers: ["127.0.0.1:1"],
  schemaRegistry: "http://127.0.0.1:2",
  ports: { ingest: 3, control: 4, admin: { ingest: 5, router: 6, delivery: 7, control: 8 } },
  adminToken: "the-admin-token",
  secretKeys: "k1:the-secret-key",
  dataDir: "/nowhere",
  // The exports of the person at the terminal.
  env: { PATH: "/bin", POSTHASTE_ADMIN_TOKEN: "the-admin-token", POSTHASTE_SECRET_KEYS: "k1:the-secret-key" },
  onUnexpectedExit: () => {},
};

function secretsIn(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const secrets = [options.adminToken, options.secretKeys];
  return Object.entries(env).flatMap(([name, value]) => (secrets.includes(value ?? "") ? [name] : []));
}

it("gives the admin token to control alone, and the secret keys to control and delivery alone", () => {
  const given = Object.fromEntries(SERVICE_NAMES.map((name) => [name, secretsIn(serviceEnvironment(name, options))]));
  expect(given).toEqual({
    ingest: [],
    router: [],
    delivery: ["POSTHASTE_SECRET_KEYS"],
    control: ["POSTHASTE_ADMIN_TOKEN", "POSTHASTE_SECRET_KEYS"],
  });
});

it("gives each process its own login where Kafka asks who calls, and no other's", () => {
  const logins = { settingsOf: (user: string) => ({ KAFKA_SASL_USERNAME: user }) };
  const given = SERVICE_NAMES.map((name) => serviceEnvironment(name, { ...options, logins })["KAFKA_SASL_USERNAME"]);
  expect(given).toEqual(["posthaste-ingest", "posthaste-router", "posthaste-delivery", "posthaste-control"]);
  expect(topicsProgram({ ...options, logins }).env["KAFKA_SASL_USERNAME"]).toBe("posthaste-topics");
});

it("leaves out what was set for a cluster of somebody else's", () => {
  const env = { PATH: "/bin", KAFKA_BROKERS: "b:1", KAFKA_SASL_PASSWORD: "secret", SCHEMA_REGISTRY_PASSWORD: "secret" };
  expect(withoutKafkaSettings(env)).toEqual({ PATH: "/bin" });
});

it("gives no secret to the program that makes the topics, nor to what inherits the environment", () => {
  expect(secretsIn(topicsProgram(options).env)).toEqual([]);
  expect(withoutSecrets(options.env)).toEqual({ PATH: "/bin" });
});

it("keeps what control makes of the topics in the data folder, and gives nobody else a folder", () => {
  const given = SERVICE_NAMES.map((name) => serviceEnvironment(name, options)["POSTHASTE_CONTROL_DATA_DIR"]);
  expect(given).toEqual([undefined, undefined, undefined, "/nowhere/control"]);
});
