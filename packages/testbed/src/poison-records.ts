/**
 * Records that a service cannot read: of bytes that are no value, of another schema, and of a schema that the registry
 * knows later or never. Beside them the way to the registry that decides when.
 *
 * Owns: a gateway to the real registry; `close` ends it.
 */
import { randomInt } from "node:crypto";
import type { SchemaName } from "@posthaste/contracts/topics";
import { schemaRegistryUrl } from "@posthaste/testkit/broker";
import { openRegistryGateway, type RegistryGateway } from "@posthaste/testkit/registry-gateway";
import type { TestTopics } from "./test-topics.ts";

export interface PoisonRecords {
  /** SCHEMA_REGISTRY_URL of the service under test. */
  readonly registryUrl: string;
  /** Bytes that are no value of any schema. */
  readonly rubbish: Buffer;
  /** A value whose schema no registry has. */
  readonly neverKnown: () => Buffer;
  /** The value, as a writer wrote it whose schema the service's registry has from `reveal` on. */
  readonly knownLater: <T>(schema: SchemaName, value: T) => Promise<Buffer>;
  /** How often the registry was asked for schemas that it does not know. */
  readonly asked: () => number;
  /** How many schemas that it does not know the registry was asked for. */
  readonly schemasAsked: () => number;
  /** From now on the registry knows the missing schemas. */
  readonly reveal: () => void;
  readonly close: () => Promise<void>;
}

/** An id that is far above those that a registry gives. */
const FREE_IDS = 1_000_000_000;

/** An Avro int. */
const ENCODED_ZERO = Buffer.from([0]);

/** Registers the schema of this id with one more field, an int at its end, of this name; returns the id of that. */
async function registerLater(schemaId: number, subject: string, field: string): Promise<number> {
  const answer = await fetch(`${schemaRegistryUrl()}/schemas/ids/${schemaId}`);
  const found = (await answer.json()) as { readonly schema: string };
  const schema = JSON.parse(found.schema);
  schema.fields.push({ name: field, type: "int", default: 0 });
  const response = await fetch(`${schemaRegistryUrl()}/subjects/${subject}/versions`, {
    method: "POST",
    headers: { "content-type": "application/vnd.schemaregistry.v1+json" },
    body: JSON.stringify({ schema: JSON.stringify(schema) }),
  });
  const { id } = (await response.json()) as { readonly id: number };
  return id;
}

export async function openPoisonRecords({
  openCodec,
  prefix,
}: Pick<TestTopics, "openCodec" | "prefix">): Promise<PoisonRecords> {
  const gateway: RegistryGateway = await openRegistryGateway();
  const hidden = new Set<number>();
  let made = 0;
  return {
    registryUrl: gateway.url,
    rubbish: Buffer.from("no value"),
    neverKnown: () => {
      const bytes = Buffer.alloc(20, 7);
      bytes[0] = 0;
      const id = FREE_IDS + randomInt(FREE_IDS);
      gateway.hide(id);
      bytes.writeInt32BE(id, 1);
      return bytes;
    },
    knownLater: async <T>(schema: SchemaName, value: T) => {
      const known = (await openCodec<T>(schema)).encode(value);
      // Another schema each time: one that was shown is known to the service for good.
      const field = `later${made++}`;
      const id = await registerLater(known.readInt32BE(1), `${prefix}.${field}-${schema}`, field);
      hidden.add(id);
      gateway.hide(id);
      const bytes = Buffer.concat([known, ENCODED_ZERO]);
      bytes.writeInt32BE(id, 1);
      return bytes;
    },
    asked: () => [...gateway.hiddenAsks.values()].reduce((sum, times) => sum + times, 0),
    schemasAsked: () => gateway.hiddenAsks.size,
    reveal: () => {
      for (const id of hidden) gateway.show(id);
      hidden.clear();
    },
    close: () => gateway.close(),
  };
}
