import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { COMPATIBILITY, SchemaRegistry, SchemaType } from "@kafkajs/confluent-schema-registry";
import { createTopicNames, SCHEMA_NAMES, subjectOf } from "@posthaste/contracts/topics";
import type { Event } from "@posthaste/core/event/event";
import type { Log } from "@posthaste/core/log";
import { SILENT_LOG } from "@posthaste/core/log";
import { schemaRegistryUrl } from "@posthaste/testkit/broker";
import { uniqueName } from "@posthaste/testkit/topics";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { FRAME_BYTES, schemaIdOf, writeFrame } from "../src/codec/confluent-frame.ts";
import { createOpenCodec } from "../src/codec/registry.ts";
import { readSchema } from "../src/codec/schema-files.ts";

const EVENT: Event = {
  messageId: "m-1",
  sourceId: "s-1",
  type: "track",
  userId: "u-1",
  anonymousId: null,
  timestampMs: 1_700_000_000_000,
  receivedAtMs: 1_700_000_000_001,
  integrations: { All: false, Webhooks: true },
  event: "Bought",
  name: null,
  groupId: null,
  previousId: null,
  propertiesJson: '{"price":1}',
  traitsJson: null,
  contextJson: "{}",
  restJson: null,
};

/** As Avro allows since 1.12, and avsc does not. */
const DEFAULT_OF_SECOND_BRANCH =
  '{"type":"record","name":"R","fields":[{"name":"a","type":["null","int"],"default":1}]}';

interface Field {
  readonly name: string;
}

/** The event schema with other fields than it has now. */
function eventSchemaWith(change: (fields: readonly Field[]) => readonly unknown[]): string {
  const schema = JSON.parse(readSchema("event"));
  return JSON.stringify({ ...schema, fields: change(schema.fields) });
}

describe("codecs against the registry", () => {
  const bare = new SchemaRegistry({ host: schemaRegistryUrl() });
  const prefixes: string[] = [];

  /** Topic names of a test's own, and with them subjects. */
  function uniqueNames() {
    const prefix = uniqueName("codec");
    prefixes.push(prefix);
    return createTopicNames(prefix);
  }

  /** Past the client, which refuses schemas that it cannot parse. */
  async function registerBare(subject: string, schemaType: string, schema: string): Promise<number> {
    const response = await fetch(`${schemaRegistryUrl()}/subjects/${subject}/versions`, {
      method: "POST",
      headers: { "content-type": "application/vnd.schemaregistry.v1+json" },
      body: JSON.stringify({ schemaType, schema }),
    });
    const { id } = (await response.json()) as { id: number };
    return id;
  }

  const open = (names = uniqueNames(), log: Log = SILENT_LOG, url = schemaRegistryUrl()) =>
    createOpenCodec({ url, names, log });

  afterAll(async () => {
    const subjects = (await (await fetch(`${schemaRegistryUrl()}/subjects`)).json()) as string[];
    const ours = subjects.filter((subject) => prefixes.some((prefix) => subject.startsWith(prefix)));
    await Promise.all(ours.map((subject) => fetch(`${schemaRegistryUrl()}/subjects/${subject}`, { method: "DELETE" })));
  });

  it("open for every schema of the project", async () => {
    const openCodec = open();
    const ids = await Promise.all(SCHEMA_NAMES.map(openCodec));
    expect(ids).toHaveLength(SCHEMA_NAMES.length);
  });

  it("answer what was encoded, in the Confluent wire format, readable by the registry's own client", async () => {
    const codec = await open()<Event>("event");
    const bytes = codec.encode(EVENT);
    expect(bytes[0]).toBe(0);
    expect(codec.decode(bytes)).toEqual(EVENT);
    expect(await bare.decode(bytes)).toEqual(EVENT);
  });

  it("answer what was encoded for any strings and lengths, larger than the scratch buffer too", async () => {
    const codec = await open()<Event>("event");
    const texts = fc.record({ messageId: fc.string({ unit: "binary" }), length: fc.nat(200_000) });
    const property = fc.property(texts, ({ messageId, length }) => {
      const event = { ...EVENT, messageId, contextJson: "x".repeat(length) };
      expect(codec.decode(codec.encode(event))).toEqual(event);
    });
    fc.assert(property, { numRuns: 50 });
  });

  it("keep a value that was encoded when the next one is", async () => {
    const codec = await open()<Event>("event");
    const first = codec.encode(EVENT);
    codec.encode({ ...EVENT, messageId: "m-2" });
    expect(codec.decode(first).messageId).toBe("m-1");
  });

  it("register a schema once: a second process gets the same id", async () => {
    const names = uniqueNames();
    const [first, second] = await Promise.all([open(names)<Event>("event"), open(names)<Event>("event")]);
    expect(schemaIdOf(first.encode(EVENT))).toBe(schemaIdOf(second.encode(EVENT)));
  });

  it("read what an older writer wrote once its schema is learnt", async () => {
    const names = uniqueNames();
    const older = eventSchemaWith((fields) =>
      fields.filter(({ name }) => name !== "restJson" && name !== "previousId"),
    );
    const { id } = await bare.register(
      { type: SchemaType.AVRO, schema: older },
      { subject: subjectOf(names, "event") },
    );
    const bytes = await bare.encode(id, EVENT);

    const codec = await open(names)<Event>("event");
    expect(() => codec.decode(bytes)).toThrow(expect.objectContaining({ code: "unknown_schema" }));
    await codec.prefetch(bytes);
    expect(codec.decode(bytes)).toEqual(EVENT);
    expect(codec.prefetch(bytes)).toBeUndefined();
  });

  it("read what a newer writer wrote, without its new fields", async () => {
    const names = uniqueNames();
    const codec = await open(names)<Event>("event");
    const newer = eventSchemaWith((fields) => [...fields, { name: "added", type: "string", default: "" }]);
    const { id } = await bare.register(
      { type: SchemaType.AVRO, schema: newer },
      { subject: subjectOf(names, "event"), compatibility: COMPATIBILITY.BACKWARD_TRANSITIVE },
    );
    const bytes = await bare.encode(id, { ...EVENT, added: "new" });
    await codec.prefetch(bytes);
    expect(codec.decode(bytes)).toEqual(EVENT);
  });

  it("know their own bytes without asking", async () => {
    const codec = await open()<Event>("event");
    expect(codec.prefetch(codec.encode(EVENT))).toBeUndefined();
  });

  it("refuse a value that does not fit, and bytes that are no value", async () => {
    const codec = await open()<Event>("event");
    const invalid = expect.objectContaining({ code: "invalid_input" });
    expect(() => codec.encode({ ...EVENT, messageId: 1 } as never)).toThrow(invalid);
    expect(() => codec.decode(Buffer.from("not avro"))).toThrow(invalid);
    expect(() => codec.decode(codec.encode(EVENT).subarray(0, 20))).toThrow(invalid);
    expect(codec.prefetch(Buffer.from("not avro"))).toBeUndefined();
  });

  it.each([
    ["a schema of ours that is another topic's", SchemaType.AVRO, readSchema("source")],
    ["a JSON schema", SchemaType.JSON, '{"type":"object","properties":{"a":{"type":"string"}}}'],
    ["an Avro schema that avsc refuses", SchemaType.AVRO, DEFAULT_OF_SECOND_BRANCH],
  ])("read nothing of %s: what it wrote is no value, and is asked about once", async (_, type, schema) => {
    const names = uniqueNames();
    const codec = await open(names)<Event>("event");
    const stray = Buffer.concat([Buffer.alloc(FRAME_BYTES), Buffer.from("xyz")]);
    writeFrame(stray, await registerBare(`${names.events}-stray`, type, schema));
    await codec.prefetch(stray);
    expect(() => codec.decode(stray)).toThrow(expect.objectContaining({ code: "invalid_input" }));
    expect(codec.prefetch(stray)).toBeUndefined();
  });

  it("reject a writer that the registry does not know", async () => {
    const codec = await open()<Event>("event");
    const unknown = Buffer.concat([Buffer.from([0, 0x7f, 0xff, 0xff, 0xff]), Buffer.alloc(10)]);
    await expect(codec.prefetch(unknown)).rejects.toMatchObject({ code: "unknown_schema" });
  });

  it("reject a schema that the registry finds incompatible, at once", async () => {
    const names = uniqueNames();
    const other = JSON.stringify({
      type: "record",
      name: "Event",
      namespace: "posthaste",
      fields: [{ name: "other", type: "int" }],
    });
    await bare.register({ type: SchemaType.AVRO, schema: other }, { subject: subjectOf(names, "event") });
    await expect(open(names)("event")).rejects.toMatchObject({ code: "registry_unavailable", retryable: false });
  });

  it("wait for a registry that is not there yet, and say once for all of them what to look at", async () => {
    const lines: unknown[] = [];
    const log: Log = { ...SILENT_LOG, warn: (fields, message) => lines.push({ ...fields, message }) };
    let refusals = 4;
    const gateway = createServer(async (request, response) => {
      if (refusals > 0) {
        refusals -= 1;
        response.writeHead(503).end("{}");
        return;
      }
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const answer = await fetch(`${new URL(schemaRegistryUrl()).origin}${request.url}`, {
        method: request.method ?? "GET",
        headers: { "content-type": "application/vnd.schemaregistry.v1+json" },
        ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
      });
      response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
    });
    await new Promise<void>((resolve) => {
      gateway.listen(0, "127.0.0.1", resolve);
    });
    const url = schemaRegistryUrl().replace(/\/\/[^/]+/, `//127.0.0.1:${(gateway.address() as AddressInfo).port}`);
    try {
      const openCodec = open(uniqueNames(), log, url);
      const [codec] = await Promise.all([openCodec<Event>("event"), openCodec("delivery")]);
      expect(codec.decode(codec.encode(EVENT))).toEqual(EVENT);
      const message = expect.stringContaining("SCHEMA_REGISTRY_URL");
      expect(lines).toEqual([expect.objectContaining({ event: "registry_unreachable", registry: url, message })]);
    } finally {
      gateway.closeAllConnections();
      gateway.close();
    }
  });
});
