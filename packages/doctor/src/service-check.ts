/** Checks that every service says it is ready, and that control has read its topics. */
import type { Readiness } from "@posthaste/runtime/admin-server";
import type { Check, CheckResult, Finding } from "./check.ts";

/** Control's own parts in its readiness: its tables and its read model. Its brokers have a check of their own. */
const TABLES: ReadonlySet<string> = new Set(["tables", "deliveryLog"]);
const NO_SERVICE: ReadonlySet<string> = new Set([...TABLES, "brokers"]);

export interface ServiceParts {
  readonly readiness: () => Promise<Readiness>;
  /** Control's own release. */
  readonly version: string;
  /** The releases of the services that name theirs. */
  readonly versions: () => Promise<ReadonlyMap<string, string>>;
}

export function serviceCheck({ readiness, version, versions }: ServiceParts): Check {
  const ready = readinessCheck("services", readiness, (name) => !NO_SERVICE.has(name));
  return {
    name: ready.name,
    look: async () => {
      const [missing, releases] = await Promise.all([ready.look(), versions()]);
      const others = [...releases].filter(([, release]) => release !== version);
      return [...missing, ...others.map(([name, release]) => releaseFinding({ name, release, version }))];
    },
  };
}

interface OtherRelease {
  readonly name: string;
  readonly release: string;
  /** Control's. */
  readonly version: string;
}

/** Every mix of two neighbouring releases works, so that it is no fault. */
function releaseFinding({ name, release, version }: OtherRelease): Finding {
  return {
    state: "warning",
    what: `${name} runs ${release}, and control ${version}.`,
    remedy: 'Finish the upgrade, or go back, in the order of docs/operating.md, "Upgrading".',
  };
}

export function tableCheck(readiness: () => Promise<Readiness>): Check {
  return readinessCheck("tables", readiness, (name) => TABLES.has(name));
}

function readinessCheck(
  name: CheckResult["name"],
  readiness: () => Promise<Readiness>,
  isOfCheck: (part: string) => boolean,
): Check {
  return {
    name,
    look: async () =>
      Object.entries(await readiness()).flatMap(([part, missing]): readonly Finding[] =>
        missing === true || !isOfCheck(part)
          ? []
          : [{ state: "wrong", what: `${part} is not ready: ${missing}.`, remedy: remedyOf(part, missing) }],
      ),
  };
}

function remedyOf(name: string, missing: string): string {
  if (name === "deliveryLog") return "Free or mend the disk of POSTHASTE_CONTROL_DATA_DIR: it goes on by itself.";
  if (name === "tables") return "See whether the brokers answer: posthaste doctor --only brokers,replication,registry";
  return missing === "does not answer"
    ? `Start ${name}, or name the address of its /readyz in POSTHASTE_READY_URLS of control.`
    : `Mend what it lacks, or wait: the log of ${name} says more.`;
}
