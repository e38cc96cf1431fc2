/** Checks that every service says it is ready. */
import type { Readiness } from "@posthaste/runtime/admin-server";
import type { Check } from "./check.ts";

export function serviceCheck(readiness: () => Promise<Readiness>): Check {
  return {
    name: "services",
    look: async () =>
      Object.entries(await readiness()).flatMap(([name, missing]) =>
        missing === true
          ? []
          : [
              {
                state: "wrong",
                what: `${name} is not ready: ${missing}.`,
                remedy: remedyOf(name, missing),
              },
            ],
      ),
  };
}

function remedyOf(name: string, missing: string): string {
  if (name === "deliveryLog") return "Free or mend the disk of POSTHASTE_CONTROL_DATA_DIR: it goes on by itself.";
  return missing === "does not answer"
    ? `Start ${name}, or name the address of its /readyz in POSTHASTE_READY_URLS of control.`
    : `Mend what it lacks, or wait: the log of ${name} says more.`;
}
