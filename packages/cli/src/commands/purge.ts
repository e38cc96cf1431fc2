/** Purging dead letters: counted, asked about, marked by the plan. */
import type { Context } from "../context.ts";
import { counted } from "../counted.ts";
import { CliError, EXIT, type ExitCode } from "../exit-code.ts";
import { letterBody, type NamedLetters } from "./letter-filter.ts";
import { confirmPlan, makePlan, planId } from "./letter-plan.ts";

const PATH = "/v1/dead-letters/purge";

export interface PurgeOptions extends NamedLetters {
  readonly dryRun?: boolean;
}

/** 0 when they are purged, 3 when nothing matched. */
export async function purge(context: Context, { dryRun, ...filter }: PurgeOptions): Promise<ExitCode> {
  const { api, printer } = context;
  const body = letterBody(filter);
  if (Object.keys(body).length === 0) {
    throw new CliError(EXIT.usage, "say which dead letters are to be purged", {
      hint: "posthaste dead-letters purge --help shows by what they can be named",
    });
  }
  const plan = await makePlan(context, PATH, body);
  if (plan.matched === 0 || dryRun === true) {
    printer.document(plan.answer);
    printer.say(plan.matched === 0 ? "nothing matches" : `would purge ${counted(plan.matched, "dead letter")}`);
    return plan.matched === 0 ? EXIT.no : EXIT.done;
  }
  await confirmPlan(context, `Purge ${counted(plan.matched, "dead letter")}, for good?`, plan);
  const purged = await api.call("POST", PATH, { plan: planId(plan) });
  printer.document(purged);
  printer.say(
    `purged ${counted(plan.matched, "dead letter")}; the topic keeps the bytes until ${purged.bytesKeptUntil}`,
  );
  return EXIT.done;
}
