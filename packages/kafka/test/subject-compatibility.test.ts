import { COMPATIBILITY, SchemaRegistry, SchemaType } from "@kafkajs/confluent-schema-registry";
import { createTopicNames, subjectOf } from "@posthaste/contracts/topics";
import { SILENT_LOG } from "@posthaste/core/log";
import { schemaRegistryUrl } from "@posthaste/testkit/broker";
import { uniqueName } from "@posthaste/testkit/topics";
import { afterEach, describe, expect, it } from "vitest";
import { createOpenCodec } from "../src/codec/registry.ts";
import { openRegistry } from "../src/codec/registry-client.ts";
import { readSchema } from "../src/codec/schema-files.ts";

const registry = openRegistry({ url: schemaRegistryUrl() });
const subjects: string[] = [];

afterEach(async () => {
  for (const subject of subjects.splice(0)) {
    await fetch(`${schemaRegistryUrl()}/subjects/${subject}`, { method: "DELETE" });
  }
});

/** Names of this test's own, with the subject of its dead letters. */
function installation() {
  const names = createTopicNames(uniqueName("compatibility"));
  const subject = subjectOf(names, "dead-letter");
  subjects.push(subject);
  return { names, subject };
}

async function levelOf(subject: string): Promise<unknown> {
  return (await registry.ask("GET", `/config/${subject}`)).body;
}

/** The schema without some of its fields: the schema of an earlier release. */
function without(...fields: readonly string[]): string {
  const schema: { readonly fields: readonly { readonly name: string }[] } = JSON.parse(readSchema("dead-letter"));
  return JSON.stringify({ ...schema, fields: schema.fields.filter(({ name }) => !fields.includes(name)) });
}

describe("a subject's compatibility", () => {
  it("is BACKWARD_TRANSITIVE of a new subject", async () => {
    const { names, subject } = installation();
    await createOpenCodec({ url: schemaRegistryUrl(), names })("dead-letter");
    expect(await levelOf(subject)).toEqual({ compatibilityLevel: "BACKWARD_TRANSITIVE" });
  });

  it("is raised where an earlier release registered with BACKWARD, whose record is read on", async () => {
    const { names, subject } = installation();
    const earlier = new SchemaRegistry({ host: schemaRegistryUrl() });
    await earlier.register({ type: SchemaType.AVRO, schema: without("history", "userKey", "replays") }, { subject });
    expect(await levelOf(subject)).toEqual({ compatibilityLevel: "BACKWARD" });
    await createOpenCodec({ url: schemaRegistryUrl(), names })("dead-letter");
    expect(await levelOf(subject)).toEqual({ compatibilityLevel: "BACKWARD_TRANSITIVE" });
  });

  it("stays where somebody chose a stricter one", async () => {
    const { names, subject } = installation();
    const schema = { type: SchemaType.AVRO, schema: readSchema("dead-letter") } as const;
    const compatibility = COMPATIBILITY.FULL_TRANSITIVE;
    await new SchemaRegistry({ host: schemaRegistryUrl() }).register(schema, { subject, compatibility });
    await createOpenCodec({ url: schemaRegistryUrl(), names })("dead-letter");
    expect(await levelOf(subject)).toEqual({ compatibilityLevel: "FULL_TRANSITIVE" });
  });

  it("has the registry refuse a schema that reads what the last one wrote, and not the first one's", async () => {
    const { names, subject } = installation();
    await createOpenCodec({ url: schemaRegistryUrl(), names, log: SILENT_LOG })("dead-letter");
    const compatibility = COMPATIBILITY.BACKWARD_TRANSITIVE;
    const client = new SchemaRegistry({ host: schemaRegistryUrl() });
    // A field that the first schema has is dropped, and comes back as another type.
    await client.register({ type: SchemaType.AVRO, schema: without("replays") }, { subject, compatibility });
    const changed = JSON.stringify(
      JSON.parse(readSchema("dead-letter"), (_, value) =>
        value?.name === "replays" ? { name: "replays", type: "string", default: "" } : value,
      ),
    );
    const registered = client.register({ type: SchemaType.AVRO, schema: changed }, { subject, compatibility });
    await expect(registered).rejects.toMatchObject({ status: 409 });
  });
});
