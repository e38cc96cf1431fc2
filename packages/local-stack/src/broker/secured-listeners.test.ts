import { expect, it } from "vitest";
import { kafkaSettings } from "./kafka-properties.ts";
import type { SecuredListeners } from "./secured-listeners.ts";

const security: SecuredListeners = {
  mechanisms: ["scram-sha-512"],
  keyFile: (id) => `/tls/kafka-${id}.pem`,
  authorityFile: "/tls/authority.pem",
  operators: ["kafka-1", "kafka-2", "kafka-3", "operator"],
  ungranted: "nothing",
};

const settingsOf = (given: Partial<SecuredListeners> = {}) =>
  kafkaSettings(
    2,
    {
      count: 3,
      clientAddress: (id) => `127.0.0.1:${9000 + id}`,
      brokerAddress: (id) => `127.0.0.1:${9200 + id}`,
      controllerAddress: (id) => `127.0.0.1:${9100 + id}`,
      bindHost: "127.0.0.1",
      security: { ...security, ...given },
    },
    "/data",
  );

it("leaves no listener in plain text, and lets in without a login only who shows a certificate", () => {
  expect(settingsOf()).toMatchObject({
    listeners: "CLIENTS://127.0.0.1:9002,INTERNAL://127.0.0.1:9202,CONTROLLER://127.0.0.1:9102",
    "advertised.listeners": "CLIENTS://127.0.0.1:9002,INTERNAL://127.0.0.1:9202",
    "listener.security.protocol.map": "CLIENTS:SASL_SSL,INTERNAL:SSL,CONTROLLER:SSL",
    "inter.broker.listener.name": "INTERNAL",
    "listener.name.internal.ssl.client.auth": "required",
    "listener.name.controller.ssl.client.auth": "required",
    "ssl.keystore.location": "/tls/kafka-2.pem",
    "ssl.truststore.location": "/tls/authority.pem",
    "sasl.enabled.mechanisms": "SCRAM-SHA-512",
  });
});

it("grants everything to the brokers and the operator, and nothing to anybody else", () => {
  expect(settingsOf()).toMatchObject({
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:CN=kafka-1;User:CN=kafka-2;User:CN=kafka-3;User:CN=operator",
    "allow.everyone.if.no.acl.found": "false",
  });
});

it("writes passwords of plain into the settings, and none of SCRAM", () => {
  const plainUsers = [{ name: "some-service", password: "a password" }];
  const settings = settingsOf({ mechanisms: ["plain", "scram-sha-256"], plainUsers });
  expect(settings["listener.name.clients.plain.sasl.jaas.config"]).toContain('user_some-service="a password"');
  expect(settings["listener.name.clients.scram-sha-256.sasl.jaas.config"]).not.toContain("password");
});
