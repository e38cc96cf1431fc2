/** The answer for a message id under which control found no event. */
import type { VerdictCause } from "@posthaste/core/verdict/verdict";
import type { StoppedBy } from "@posthaste/deletions/stopping-deletions";
import type { PipelineAnswer } from "@posthaste/pipeline/pipeline-search";
import { tellStopped } from "./stopped-view.ts";
import { shellWord } from "./verdict-sentences.ts";
import type { VerdictText } from "./verdict-text.ts";

const DAY_MS = 86_400_000;

export interface SearchedFor {
  readonly messageId: string;
  /** The place in posthaste.events that the caller asked for, where it named one. */
  readonly origin: string | undefined;
  /** How long the delivery log holds attempts, in ms. */
  readonly keepMs: number;
  /** The search among the records that wait for the router and delivery; null where none ran. */
  readonly search: PipelineAnswer | null;
  /** See `unloggedEnds`. */
  readonly unlogged: string;
  /** The deletion request that hides dead letters under the message id. */
  readonly hiddenBy: StoppedBy | undefined;
  /** True where control has read the whole log; before that, it may still find the event. */
  readonly isComplete: boolean;
}

export function tellNothing(cause: VerdictCause, searched: SearchedFor): VerdictText {
  if (cause === "suppressed") return tellStopped("Not delivered", searched.hiddenBy);
  const { messageId, origin, isComplete } = searched;
  const nothing = `No event with this ID${origin === undefined ? "" : ` at ${origin} of the events`}`;
  const sentence = `${nothing}${isComplete ? inAll(searched) : soFar(searched)}.`;
  return { sentence, command: `posthaste events scan ${shellWord(messageId)}` };
}

function inAll({ keepMs, search, unlogged }: SearchedFor): string {
  const logged = ` in the last ${daysOf(keepMs)} days, and `;
  const check = "Check the ID and the write key";
  return search?.state === "searched"
    ? `${logged}none waits for the router or delivery: it never came${unlogged}. ${check}`
    : `${logged}${UNSEARCHED[search?.state ?? "failed"]}: it never came, or it is under way${unlogged}. ${check}`;
}

function soFar({ keepMs, search }: SearchedFor): string {
  const left = ` yet: control is still reading the log of the last ${daysOf(keepMs)} days, and `;
  const waits = "none waits for the router or delivery";
  return `${left}${search?.state === "searched" ? waits : UNSEARCHED[search?.state ?? "failed"]}. Ask again soon`;
}

function daysOf(keepMs: number): number {
  return Math.round(keepMs / DAY_MS);
}

const UNSEARCHED: Readonly<Record<Exclude<PipelineAnswer["state"], "searched">, string>> = {
  stopped: "what waits for the router and delivery is too much to be looked through",
  busy: "what waits for the router and delivery was not looked through, since others are looked for",
  failed: "what waits for the router and delivery could not be looked through",
};
