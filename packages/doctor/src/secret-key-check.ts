/** Checks that control and delivery can open the secrets of destinations. */
import type { Destination } from "@posthaste/core/config/destination";
import type { DestinationHealth } from "@posthaste/core/health/health-record";
import type { Check, Finding } from "./check.ts";

export interface SecretKeyParts {
  readonly destinations: () => Iterable<Pick<Destination, "id" | "name" | "missingKeyIds">>;
  /** The reports on a destination by the delivery processes that control hears from. */
  readonly saidOf: (destinationId: string) => readonly Pick<DestinationHealth, "deferred">[];
}

export function secretKeyCheck({ destinations, saidOf }: SecretKeyParts): Check {
  return {
    name: "keys",
    look: () => {
      const all = [...destinations()];
      const lacking = all.flatMap(({ missingKeyIds, ...destination }) =>
        missingKeyIds === null ? [] : [{ ...destination, missingKeyIds }],
      );
      const held = all.filter(({ id }) => saidOf(id).some(({ deferred }) => (deferred.unknown_key ?? 0) > 0));
      return [
        ...lacking.map(({ id, name, missingKeyIds }): Finding => {
          const keys = missingKeyIds.join(", ");
          return {
            state: "wrong",
            what: `Secrets of ${name} (${id}) are sealed with a key that control does not have: ${keys}.`,
            remedy:
              `Add ${keys} to POSTHASTE_SECRET_KEYS of control and of delivery and start them again; ` +
              "without it, remove the destination and make it anew.",
          };
        }),
        ...held.map(({ id, name }): Finding => {
          return {
            state: "warning",
            what: `A delivery process held deliveries for ${name} (${id}) back since it could not open its secrets.`,
            remedy: "Give every delivery process the POSTHASTE_SECRET_KEYS that control has, and start it again.",
          };
        }),
      ];
    },
  };
}
