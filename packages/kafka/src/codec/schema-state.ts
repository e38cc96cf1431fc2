/** Whether the registry holds a schema of ours, without registering anything. */
import { SchemaType } from "@kafkajs/confluent-schema-registry";
import { type SchemaName, subjectOf, type TopicNames } from "@posthaste/contracts/topics";
import { isPosthasteError, PosthasteError } from "@posthaste/core/errors";
import { openRegistry, type RegistryOptions } from "./registry-client.ts";
import { readSchema } from "./schema-files.ts";
import { hasCompatibility } from "./subject-compatibility.ts";

/**
 * `registered`: the subject has this schema, and takes only schemas that read the records of all earlier ones.
 * `missing`: the subject lacks this schema. `loose`: the subject has it, and no compatibility level of its own that is
 * as strict.
 */
export type SchemaState = "registered" | "missing" | "loose";

export interface SchemaStateOptions extends RegistryOptions {
  readonly names: TopicNames;
}

/** Makes the function that asks. It rejects with `registry_unavailable`, with advice where there is some. */
export function createSchemaState({
  names,
  ...options
}: SchemaStateOptions): (schema: SchemaName) => Promise<SchemaState> {
  const registry = openRegistry(options);
  const assertAnswered = (status: number): void => {
    if (status === 200 || status === 404) return;
    throw new PosthasteError(
      "registry_unavailable",
      registry.advice(status) ?? `the schema registry at ${registry.host} answers ${status}`,
    );
  };
  return async (schema) => {
    const subject = subjectOf(names, schema);
    const definition = { schema: readSchema(schema), schemaType: SchemaType.AVRO };
    try {
      const { status } = await registry.ask("POST", `/subjects/${encodeURIComponent(subject)}`, definition);
      assertAnswered(status);
      if (status === 404) return "missing";
      return (await hasCompatibility(subject, registry)) ? "registered" : "loose";
    } catch (cause) {
      if (isPosthasteError(cause)) throw cause;
      const reason = registry.advice(undefined) ?? `the schema registry at ${registry.host} does not answer`;
      throw new PosthasteError("registry_unavailable", reason, { retryable: true, cause });
    }
  };
}
