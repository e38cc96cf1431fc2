/** The doctor's route: the state of everything that Posthaste depends on, and the remedy for each fault. */

import type { Freshness } from "@posthaste/core/freshness";
import { freshAnswer, freshness } from "@posthaste/http-kit/freshness";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import { singleFlight } from "@posthaste/kafka/connection/single-flight";
import { z } from "zod";
import { CHECK_STATES, type Check, type CheckResult, type CheckState, runCheck } from "./check.ts";

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

/** The results of all checks. */
export type LookAround = () => Promise<readonly CheckResult[]>;

/**
 * A caller who asks while a round of checks runs gets the answer of the next round: a hundred callers at once cost two
 * rounds.
 */
export function createLookAround(checks: readonly Check[]): LookAround {
  return singleFlight(() => Promise.all(checks.map(runCheck)));
}

export function doctorRoutes(lookAround: LookAround, fresh: () => Freshness): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/doctor",
      operation: "getDoctor",
      summary:
        "Topics, schemas, replication, clocks, secret keys, lag, losses and settings: what is wrong, and what to do",
      answer: { status: 200, description: "What was found just now.", body: { name: "Doctor", schema: doctorAnswer } },
      handle: async () => {
        const results = await lookAround();
        const ok = results.every(({ state }) => state === "ok" || state === "warning");
        const reported = results.map((result) => ({ ...result, findings: [...result.findings] }));
        return { ok, checks: reported, ...freshAnswer(fresh()) };
      },
    }),
  ];
}
