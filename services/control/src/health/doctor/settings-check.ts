/** Checks that all delivery processes run with the same settings. */

import type { Check, Finding } from "@posthaste/doctor/check";
import type { ReportedProcess } from "../health/health-book.ts";

/** The settings that must agree, each with its value in a process's report. */
const SETTINGS: readonly (readonly [string, (process: ReportedProcess) => string])[] = [
  ["POSTHASTE_RETRY_SCHEDULE", ({ retryDelaysMs }) => retryDelaysMs.map((delayMs) => `${delayMs}ms`).join(",")],
  ["POSTHASTE_RETRY_WINDOW", ({ retryWindowMs }) => `${retryWindowMs}ms`],
  ["POSTHASTE_DELIVERY_WINDOW", ({ windowRecords }) => String(windowRecords)],
  [
    "POSTHASTE_ATTEMPT_LOG",
    ({ logsFailures, loggedShare }) => `failures ${logsFailures ? "all" : "none"}, delivered ${loggedShare * 100} %`,
  ],
];

export function settingsCheck(processes: () => readonly ReportedProcess[]): Check {
  return {
    name: "settings",
    look: () => {
      const seen = processes();
      if (seen.length === 0) return [NOBODY];
      return SETTINGS.flatMap(([setting, readValue]): readonly Finding[] => {
        const values = new Map<string, string[]>();
        for (const process of seen) {
          const value = readValue(process);
          values.set(value, [...(values.get(value) ?? []), process.instance]);
        }
        if (values.size < 2) return [];
        const reported = [...values].map(([value, instances]) => `${value} at ${instances.join(", ")}`);
        return [
          {
            state: "warning",
            what: `Delivery processes run with different ${setting}: ${reported.join("; ")}.`,
            remedy: `Give all of them the same ${setting}, and start again those that have another.`,
          },
        ];
      });
    },
  };
}

const NOBODY: Finding = {
  state: "unknown",
  what: "No delivery process was heard of within a minute.",
  remedy: "Start delivery; where it runs, see whether its clock is right and whether it reaches the brokers.",
};
