/**
 * Checks that the schema registry answers, that it holds the ids that control writes with, and that Kafka deletes
 * nothing of a registry that keeps its state there.
 */
import type { RegistryState } from "@posthaste/kafka/codec/registry-state";
import type { ExistingTopic } from "@posthaste/kafka/topics/topic-plan";
import type { Check, Finding } from "./check.ts";

/** The topics of Apicurio, by its default names. */
export const REGISTRY_TOPICS = ["kafkasql-journal", "kafkasql-snapshots"] as const;

const FOR_GOOD = "-1";

export interface RegistryParts {
  readonly state: () => Promise<RegistryState>;
  /** The topics of `REGISTRY_TOPICS` that exist. */
  readonly topics: () => Promise<readonly ExistingTopic[]>;
}

export function registryCheck({ state, topics }: RegistryParts): Check {
  return {
    name: "registry",
    look: async () => {
      // Brokers that do not answer have a check of their own.
      const seen = await topics().catch(() => []);
      return [...stateFindings(await state()), ...seen.flatMap(deletedFindings)];
    },
  };
}

function stateFindings(state: RegistryState): readonly Finding[] {
  switch (state.kind) {
    case "well":
      return [];
    case "silent":
      return [
        {
          state: "wrong",
          what: `The schema registry does not answer as it should: ${state.reason}.`,
          remedy:
            "Start it, or mend what it says; curl $SCHEMA_REGISTRY_URL/subjects asks it. Known schemas go on meanwhile.",
        },
      ];
    case "lost":
      return [
        {
          state: "wrong",
          what: `The schema registry lost the schema of id ${state.id}: records that were written with it wait to be read.`,
          remedy:
            "Restore its contents with their ids before anything else registers a schema: docs/operating.md, " +
            `"Backup and restore". curl $SCHEMA_REGISTRY_URL/schemas/ids/${state.id}`,
        },
      ];
  }
}

/** A schema is registered once, and its id stands in records for as long as they are kept. */
function deletedFindings({ name, settings }: ExistingTopic): readonly Finding[] {
  const retention = settings.get("retention.ms");
  if (retention === undefined || retention === FOR_GOOD || settings.get("cleanup.policy") === "compact") return [];
  return [
    {
      state: "wrong",
      what: `Kafka deletes the registry's schemas: retention.ms of ${name} is ${retention}.`,
      remedy:
        `kafka-configs.sh --bootstrap-server BROKER:9092 --alter --entity-type topics --entity-name ${name} ` +
        `--add-config retention.ms=${FOR_GOOD}`,
    },
  ];
}
