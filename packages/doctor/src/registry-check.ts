/** Checks that the schema registry answers, and that it holds the ids that control writes with. */
import type { RegistryState } from "@posthaste/kafka/codec/registry-state";
import type { Check } from "./check.ts";

export function registryCheck(look: () => Promise<RegistryState>): Check {
  return {
    name: "registry",
    look: async () => {
      const state = await look();
      if (state.kind === "well") return [];
      if (state.kind === "silent") {
        return [
          {
            state: "wrong",
            what: `The schema registry does not answer as it should: ${state.reason}.`,
            remedy:
              "Start it, or mend what it says; curl $SCHEMA_REGISTRY_URL/subjects asks it. Known schemas go on meanwhile.",
          },
        ];
      }
      return [
        {
          state: "wrong",
          what: `The schema registry lost the schema of id ${state.id}: records that were written with it wait to be read.`,
          remedy:
            "Restore its contents with their ids before anything else registers a schema: docs/operating.md, " +
            `"Backup and restore". curl $SCHEMA_REGISTRY_URL/schemas/ids/${state.id}`,
        },
      ];
    },
  };
}
