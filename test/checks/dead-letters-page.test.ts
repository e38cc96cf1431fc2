/** docs/dead-letters.md says all that a dead letter says, and nothing else. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { encodeDeadLetter } from "@posthaste/contracts/dead-letter-headers";
import { describe, expect, it } from "vitest";
import { root, snippetsOf } from "./snippets.ts";

const PAGE = "docs/dead-letters.md";
const text = readFileSync(join(root, PAGE), "utf8");
const schema = JSON.parse(readFileSync(join(root, "schemas/dead-letter.avsc"), "utf8")) as {
  readonly fields: readonly { readonly name: string }[];
};

/** The names in the first column of the table below a heading. */
function rowsUnder(heading: string): readonly string[] {
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? "";
  const cells = [...section.matchAll(/^\| ([^|]+) \|/gm)].map(([, cell = ""]) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name));
}

/** Of a dead letter that has all a dead letter can have. */
const headers = encodeDeadLetter({
  reason: "window_expired",
  reasonClass: "receiver",
  deadAtMs: 2,
  attempts: 1,
  deferrals: 0,
  windowStartMs: 1,
  lastAttempt: [
    { url: "https://a.example/", status: 503, error: null, durationMs: 1 },
    { url: "https://b.example/", status: null, error: "timeout", durationMs: 1 },
  ],
  messageId: "m",
  sourceId: "s",
  destinationId: "d",
  type: "track",
  receivedAtMs: 1,
  configOffset: 0,
  originIncarnation: 1,
  originPartition: 0,
  originOffset: 0,
  originTopic: "posthaste.events",
  body: Buffer.from("{}"),
  event: "Ordered",
  restJson: null,
  userKey: "u",
  firstAttemptAtMs: 1,
  history: [],
  replayId: "r",
  replays: 1,
  replayedFrom: "posthaste.dead-letters/0/1",
});

describe(PAGE, () => {
  it("has a row for each header", () => {
    expect([...rowsUnder("Headers")].sort()).toEqual(Object.keys(headers).sort());
  });

  it("has a row for each field of the value", () => {
    expect([...rowsUnder("Fields")].sort()).toEqual(schema.fields.map(({ name }) => name).sort());
  });

  it("reads in Flink only headers that there are, and the topic's own timestamp", () => {
    const [table = ""] = snippetsOf(PAGE, text).flatMap(({ language, code }) =>
      language === "sql" && code.includes("'connector' = 'kafka'") ? [code] : [],
    );
    const named = [...table.matchAll(/headers\['([^']+)'\]/g)].map(([, name = ""]) => name);
    expect(named.length).toBeGreaterThan(5);
    for (const name of named) expect(headers).toHaveProperty([name]);
    // Flink's Kafka connector knows these metadata, and no others that the table could mean.
    expect([...table.matchAll(/METADATA(?: FROM '(\w+)')?/g)].map(([, from]) => from ?? "headers")).toEqual([
      "headers",
      "timestamp",
    ]);
  });

  it("defines a connector whose settings are all text, over the topic and Avro", () => {
    const [definition = "{}"] = snippetsOf(PAGE, text).flatMap(({ language, code }) =>
      language === "json" ? [code] : [],
    );
    const { config } = JSON.parse(definition) as { readonly config: Readonly<Record<string, unknown>> };
    // Kafka Connect's REST takes a map of strings.
    for (const value of Object.values(config)) expect(value).toBeTypeOf("string");
    expect(config).toMatchObject({
      topics: "posthaste.dead-letters",
      "value.converter": "io.confluent.connect.avro.AvroConverter",
    });
    // Settings that Confluent's sink has no default for.
    for (const name of ["connector.class", "s3.bucket.name", "storage.class", "flush.size", "format.class"]) {
      expect(config).toHaveProperty([name]);
    }
  });
});
