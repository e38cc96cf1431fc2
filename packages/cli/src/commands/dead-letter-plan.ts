/** The counts of a dry run over dead letters, and the question whether they are meant. */
import type { Context } from "../context.ts";
import type { Entry } from "../entries.ts";
import { CliError, EXIT } from "../exit-code.ts";
import { startCounting } from "./counting.ts";

/** Counting reads a whole topic. */
const COUNTING_MS = 15 * 60_000;
/** Beyond so many a yes is too easily typed. */
const MANY = 10_000;

/** The operations that count first, and do by the plan what was counted. */
export const PLAN_PATHS = { replay: "/v1/replays", purge: "/v1/dead-letters/purge" } as const;
export type Purpose = keyof typeof PLAN_PATHS;

export interface DeadLetterPlan {
  readonly answer: Entry;
  readonly matched: number;
  /** Null when nothing matched. */
  readonly id: string | null;
}

export async function makePlan(context: Context, purpose: Purpose, body: object): Promise<DeadLetterPlan> {
  const { api, printer } = context;
  const end = startCounting(context, purpose, body);
  const answer = await api.call("POST", PLAN_PATHS[purpose], { ...body, dryRun: true }, COUNTING_MS).finally(end);
  const left = skippedWords(answer.leftOut);
  if (left !== "") printer.say(`left out: ${left}`);
  const { matched, plan } = answer;
  return { answer, matched: Number(matched), id: typeof plan === "string" ? plan : null };
}

/** Refuses a filter beside a plan. */
export function assertPlanAlone(filter: object): void {
  if (Object.keys(filter).length > 0) throw new CliError(EXIT.usage, "--plan says which dead letters: name it alone");
}

/** The destination's name is to be typed for many, where all are of one; else their number. */
export async function confirmPlan(
  context: Context,
  question: string,
  { answer, matched }: DeadLetterPlan,
): Promise<void> {
  if (matched <= MANY) return await context.confirm(question);
  const destinations = new Set(
    Array.isArray(answer.counts) ? answer.counts.map(({ destinationId }) => destinationId) : [],
  );
  const [only] = destinations;
  if (destinations.size !== 1) return await context.confirmTyped(question, String(matched), "their number");
  const { name } = await context.api.call("GET", `/v1/destinations/${encodeURIComponent(String(only))}`);
  await context.confirmTyped(question, String(name), "the destination's name");
}

/** Throws where the plan does not say which work would be started. */
export function planId({ id }: DeadLetterPlan): string {
  if (id === null) throw new CliError(EXIT.failed, "control answered no plan: is it of an earlier release?");
  return id;
}

/** `41 delivered since, 2 suppressed`. */
export function skippedWords(leftOut: unknown): string {
  if (typeof leftOut !== "object" || leftOut === null) return "";
  return Object.entries(leftOut)
    .filter(([, count]) => Number(count) > 0)
    .map(([cause, count]) => `${count} ${cause.replaceAll(/[A-Z]/g, (deadLetter) => ` ${deadLetter.toLowerCase()}`)}`)
    .join(", ");
}
