/** The doctor's route: the state of everything that Posthaste depends on, and the remedy for each fault. */

import type { Freshness } from "@posthaste/core/freshness";
import { CHECK_STATES, type Check, type CheckResult, type CheckState, runCheck } from "@posthaste/doctor/check";
import { freshAnswer, freshness } from "@posthaste/http-kit/freshness";
import { invalidInput } from "@posthaste/http-kit/problem";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import { singleFlight } from "@posthaste/kafka/connection/single-flight";
import { z } from "zod";

const findingStates = CHECK_STATES.filter((state): state is Exclude<CheckState, "ok"> => state !== "ok");

const doctorAnswer = z.object({
  ok: z.boolean().describe("Nothing is wrong, and everything could be looked at; there may be warnings."),
  checks: z.array(
    z.object({
      name: z.string(),
      state: z.enum(CHECK_STATES).describe("That of its worst finding. unknown: it could not be looked at."),
      findings: z.array(
        z.object({
          state: z.enum(findingStates),
          what: z.string(),
          remedy: z.string().describe("What to do."),
        }),
      ),
    }),
  ),
  ...freshness,
});

export interface Doctor {
  /** The names of the checks, in the order of the answer. */
  readonly names: readonly string[];
  /** The results of the named checks; without names, of all but those on request. */
  readonly lookAround: (only?: readonly string[]) => Promise<readonly CheckResult[]>;
}

/**
 * `onRequest`: checks that run where they are named alone. A caller who asks while a check runs gets the answer of its
 * next run: a hundred callers at once cost two runs of each.
 */
export function createDoctor(checks: readonly Check[], onRequest: readonly Check[] = []): Doctor {
  const runs = new Map([...checks, ...onRequest].map((check) => [check.name, singleFlight(() => runCheck(check))]));
  const usual = checks.map(({ name }) => name);
  const names = [...runs.keys()];
  return {
    names,
    lookAround: (only = usual) =>
      Promise.all(names.flatMap((name) => (only.includes(name) ? (runs.get(name)?.() ?? []) : []))),
  };
}

/** The check of the receivers, which connects to them. */
const REACH = "reach";

const query = z.strictObject({
  only: z.string().optional().describe("Names of checks, divided by commas; the others are left out."),
  reach: z
    .enum(["true", "false"], "expected true or false")
    .default("false")
    .describe("true: connects to every URL of every destination that is switched on, and sends nothing."),
});

export function doctorRoutes({ names, lookAround }: Doctor, fresh: () => Freshness): readonly Route[] {
  const usual = names.filter((name) => name !== REACH);
  return [
    defineRoute({
      method: "GET",
      path: "/v1/doctor",
      operation: "getDoctor",
      summary: "Services, brokers, topics, schemas, groups, clocks, keys and more: what is wrong, and what to do",
      query,
      answer: { status: 200, description: "What was found just now.", body: { name: "Doctor", schema: doctorAnswer } },
      handle: async ({ query: { only, reach } }) => {
        const named = only?.split(",").map((name) => name.trim()) ?? usual;
        const unknown = named.filter((name) => !names.includes(name));
        if (unknown.length > 0) {
          throw invalidInput([
            { path: "only", message: `no check is named ${unknown.join(", ")}; there are ${names.join(", ")}` },
          ]);
        }
        const results = await lookAround(reach === "true" ? [...named, REACH] : named);
        const ok = results.every(({ state }) => state === "ok" || state === "warning");
        const reported = results.map((result) => ({ ...result, findings: [...result.findings] }));
        return { ok, checks: reported, ...freshAnswer(fresh()) };
      },
    }),
  ];
}
