import { createTopicNames } from "@posthaste/contracts/topics";
import { type Log, SILENT_LOG } from "@posthaste/core/log";
import { expect, it } from "vitest";
import { createOpenCodec } from "../codec/registry.ts";
import { connectKafka, type KafkaConnectionOptions } from "./connect.ts";

const PLAIN = { mechanism: "plain", username: "u", password: "p" } as const;
const SCRAM = { mechanism: "scram-sha-512", username: "u", password: "p" } as const;
const TOKEN = { mechanism: "oauthbearer", tokenFile: "/token" } as const;

/** The warnings of a process that begins so; nothing is reached from here. */
async function warnings(
  options: Pick<KafkaConnectionOptions, "brokers" | "login" | "tls">,
): Promise<readonly string[]> {
  const lines: string[] = [];
  const log: Log = { ...SILENT_LOG, warn: (_, message) => lines.push(message ?? "") };
  const route = () => ({ host: "127.0.0.1", port: 1 });
  const connection = connectKafka({ clientId: "test", log, route, ...options });
  await connection.close();
  return lines;
}

const AWAY = ["127.0.0.1:9092", "kafka.example:9092"];

it.each([
  ["a password", PLAIN],
  ["a token", TOKEN],
])("%s that leaves this machine without TLS is warned of, with the setting", async (_, login) => {
  expect(await warnings({ brokers: AWAY, login })).toEqual([
    expect.stringMatching(`KAFKA_SASL_MECHANISM=${login.mechanism} without TLS.*KAFKA_TLS`),
  ]);
});

it.each([
  ["over TLS", { brokers: AWAY, login: PLAIN, tls: {} }],
  ["on this machine", { brokers: ["127.0.0.1:9092", "localhost:9092", "::1:9092"], login: PLAIN }],
  ["by SCRAM, which shows it to nobody", { brokers: AWAY, login: SCRAM }],
  ["where there is none", { brokers: AWAY }],
])("a password %s is not", async (_, options) => {
  expect(await warnings(options)).toEqual([]);
});

it("a password for the registry without TLS is warned of too, wherever it stands, but not on this machine", () => {
  const lines: string[] = [];
  const log: Log = { ...SILENT_LOG, warn: (_, message) => lines.push(message ?? "") };
  const open = (url: string, login?: { username: string; password: string }) =>
    createOpenCodec({ url, names: createTopicNames("t"), log, ...(login ? { login } : {}) });
  open("https://registry.example", PLAIN);
  open("http://127.0.0.1:8081", PLAIN);
  open("http://registry.example");
  expect(lines).toEqual([]);
  open("http://registry.example", PLAIN);
  open("http://u:p@registry.example");
  expect(lines).toEqual([expect.stringContaining("https://"), expect.stringContaining("https://")]);
});
