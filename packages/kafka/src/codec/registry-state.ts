/**
 * Whether the registry answers, and still has the id that it gave to the schema of events.
 *
 * Owns: the newest id that the registry named. A registry that lost its contents gives the same id to another schema
 * or to none, and every record that has it could be read wrongly or not at all.
 */
import { SchemaType } from "@kafkajs/confluent-schema-registry";
import { subjectOf } from "@posthaste/contracts/topics";
import { isJsonObject } from "@posthaste/core/call/json-fragment";
import { openRegistry } from "./registry-client.ts";
import { readSchema } from "./schema-files.ts";
import type { SchemaStateOptions } from "./schema-state.ts";

const SCHEMA = "event";

export type RegistryState =
  | { readonly kind: "well" }
  /** No answer, or one that is of no use. */
  | { readonly kind: "silent"; readonly reason: string }
  /** The registry gave this id before, and does not know it now. */
  | { readonly kind: "lost"; readonly id: number };

/** Makes the function that asks; it never rejects. */
export function createRegistryState({ names, ...options }: SchemaStateOptions): () => Promise<RegistryState> {
  const registry = openRegistry(options);
  const subject = encodeURIComponent(subjectOf(names, SCHEMA));
  const definition = { schema: readSchema(SCHEMA), schemaType: SchemaType.AVRO };
  let known: number | null = null;
  const ask = async (): Promise<RegistryState> => {
    const { status, body } = await registry.ask("POST", `/subjects/${subject}`, definition);
    if (status !== 200 && status !== 404) {
      const reason = registry.advice(status) ?? `the schema registry at ${registry.host} answers ${status}`;
      return { kind: "silent", reason };
    }
    if (known !== null && (await registry.ask("GET", `/schemas/ids/${known}`)).status === 404) {
      return { kind: "lost", id: known };
    }
    if (status === 200 && isJsonObject(body) && typeof body["id"] === "number") known = body["id"];
    return { kind: "well" };
  };
  return () =>
    ask().catch((): RegistryState => {
      const reason = registry.advice(undefined) ?? `the schema registry at ${registry.host} does not answer`;
      return { kind: "silent", reason };
    });
}
