/** Purging dead letters: counted, asked about, marked by the plan; also by the plan of a dry run. */
import type { Context } from "../context.ts";
import { counted } from "../counted.ts";
import { CliError, EXIT, type ExitCode } from "../exit-code.ts";
import { deadLetterBody, type NamedDeadLetters } from "./dead-letter-filter.ts";
import { assertPlanAlone, confirmPlan, type DeadLetterPlan, makePlan, PLAN_PATHS, planId } from "./dead-letter-plan.ts";

export interface PurgeOptions extends NamedDeadLetters {
  readonly dryRun?: boolean;
  readonly plan?: string;
}

/** 0 when they are purged, 3 when nothing matched. */
export async function purge(context: Context, { dryRun, plan: id, ...filter }: PurgeOptions): Promise<ExitCode> {
  const { api, printer } = context;
  const body = deadLetterBody(filter);
  const plan = id === undefined ? await newPlan(context, body) : await heldPlan(context, id, body);
  const deadLetters = counted(plan.matched, "dead letter");
  if (plan.matched === 0 || dryRun === true) {
    printer.document(plan.answer);
    printer.say(plan.matched === 0 ? "nothing matches" : `would purge ${deadLetters}`);
    if (plan.id !== null)
      printer.say(`  posthaste dead-letters purge --plan ${plan.id}   purges these, within an hour`);
    return plan.matched === 0 ? EXIT.no : EXIT.done;
  }
  await confirmPlan(context, `Purge ${deadLetters}, for good?`, plan);
  const purged = await api.call("POST", PLAN_PATHS.purge, { plan: planId(plan) });
  printer.document(purged);
  printer.say(`purged ${deadLetters}; the topic keeps the bytes until ${purged.bytesKeptUntil}`);
  return EXIT.done;
}

async function newPlan(context: Context, body: object): Promise<DeadLetterPlan> {
  if (Object.keys(body).length > 0) return await makePlan(context, "purge", body);
  throw new CliError(EXIT.usage, "say which dead letters are to be purged", {
    hint: "posthaste dead-letters purge --help shows by what they can be named",
  });
}

/** The counts of a dry run. */
async function heldPlan({ api }: Context, id: string, filter: object): Promise<DeadLetterPlan> {
  assertPlanAlone(filter);
  const answer = await api.call("POST", PLAN_PATHS.purge, { plan: id, dryRun: true });
  return { answer, matched: Number(answer.matched), id };
}
