/** Checks that the registry holds every schema of ours, and accepts only versions that can read the earlier ones. */
import { SCHEMA_NAMES, type SchemaName } from "@posthaste/contracts/topics";
import type { SchemaState } from "@posthaste/kafka/codec/schema-state";
import { TOPICS_PROGRAM } from "@posthaste/kafka/topics/topic-generation";
import type { Check, Finding } from "./check.ts";

export function schemaCheck(lookUp: (schema: SchemaName) => Promise<SchemaState>): Check {
  return {
    name: "schemas",
    look: async () => {
      const states = await Promise.all(SCHEMA_NAMES.map(async (schema) => [schema, await lookUp(schema)] as const));
      return states.flatMap(([schema, state]) => FINDINGS[state](schema));
    },
  };
}

const FINDINGS: Readonly<Record<SchemaState, (schema: SchemaName) => readonly Finding[]>> = {
  registered: () => [],
  missing: (schema) => [
    {
      state: "wrong",
      what: `The schema registry lacks the schema ${schema} of this version.`,
      remedy: `Run ${TOPICS_PROGRAM}, which registers every schema.`,
    },
  ],
  loose: (schema) => [
    {
      state: "warning",
      what: `The subject of the schema ${schema} takes schemas that cannot read what the earlier ones wrote.`,
      remedy: `Set its compatibility to BACKWARD_TRANSITIVE; ${TOPICS_PROGRAM} does so where it may.`,
    },
  ],
};
