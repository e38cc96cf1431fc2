/** Sending dead letters again: counted, asked about, started by the plan, and followed to the end. */
import type { Context } from "../context.ts";
import { counted } from "../counted.ts";
import { CliError, EXIT, type ExitCode } from "../exit-code.ts";
import { given } from "../options.ts";
import { deadLetterBody, type NamedDeadLetters } from "./dead-letter-filter.ts";
import { assertPlanAlone, confirmPlan, makePlan, PLAN_PATHS, planId } from "./dead-letter-plan.ts";
import { sayHowToGoOn, watchReplay } from "./watch-replay.ts";

export interface ReplayOptions extends NamedDeadLetters {
  readonly dryRun?: boolean;
  readonly plan?: string;
  readonly again?: boolean;
  readonly ratePerSecond?: number;
  readonly wait: boolean;
}

/** 0 when all that was begun is sent again, 3 when nothing matched, 6 when the replay ended before its end. */
export async function replay(context: Context, options: ReplayOptions): Promise<ExitCode> {
  const { api, printer } = context;
  const { dryRun, plan, again, ratePerSecond, wait, ...filter } = options;
  const id =
    plan === undefined ? await plannedId(context, options) : await namedPlan(context, plan, deadLetterBody(filter));
  if (id === null) return EXIT.no;
  if (dryRun === true) return EXIT.done;
  const started = await api.call("POST", PLAN_PATHS.replay, given({ plan: id, ratePerSecond }));
  if (typeof started.id !== "string") throw new CliError(EXIT.failed, "control answered no replay");
  if (wait) return await watchReplay(context, started.id);
  printer.document(await api.call("GET", `/v1/replays/${encodeURIComponent(started.id)}`));
  sayHowToGoOn(printer, started.id);
  return EXIT.done;
}

/** Null when nothing matched. Of a dry run too: nothing is asked then. */
async function plannedId(context: Context, options: ReplayOptions): Promise<string | null> {
  const { printer } = context;
  const { dryRun, plan: _, again, ratePerSecond, wait: __, ...filter } = options;
  const plan = await makePlan(context, "replay", given({ ...deadLetterBody(filter), again, ratePerSecond }));
  if (plan.matched === 0) {
    printer.document(plan.answer);
    printer.say("nothing matches");
    return null;
  }
  if (dryRun === true) {
    printer.document(plan.answer);
    printer.say(`would send ${counted(plan.matched, "dead letter")} again`);
    printer.say(`  posthaste dead-letters replay --plan ${planId(plan)}   sends these, within an hour`);
    return planId(plan);
  }
  await confirmPlan(context, `Send ${counted(plan.matched, "dead letter")} again?`, plan);
  return planId(plan);
}

async function namedPlan({ api, confirm }: Context, id: string, filter: object): Promise<string> {
  assertPlanAlone(filter);
  const { matched } = await api.call("GET", `/v1/replays/${encodeURIComponent(id)}`);
  await confirm(`Send ${counted(Number(matched), "dead letter")} again?`);
  return id;
}
