/** The deletion request that stopped an event as the API shows it, and the sentence that names it. */

import type { StoppedBy } from "@posthaste/deletions/stopping-deletions";
import { isoTime } from "@posthaste/http-kit/moment";
import { z } from "zod";
import type { VerdictText } from "./verdict-text.ts";

const UNNAMED: Readonly<Record<Exclude<StoppedBy["state"], "in_force" | "ended">, string>> = {
  gone: "; it is not on record any more",
  not_known: "; which one is not known any more",
  not_looked_up: "; which one could not be looked up now",
};

/** `undelivered` begins the sentence. `by`: undefined where nobody looked for the request. */
export function tellStopped(undelivered: string, by: StoppedBy | undefined): VerdictText {
  if (by === undefined || !("id" in by)) {
    const since = by === undefined ? "" : UNNAMED[by.state];
    const sentence = `${undelivered}: a deletion request stopped the user's events${since}.`;
    return { sentence, command: "posthaste deletions list" };
  }
  const ended = by.state === "ended" ? "; that has ended since: what is sent of the user now is delivered" : "";
  const request = `the deletion request ${by.id} of ${isoTime(by.requestedAtMs)}`;
  return {
    sentence: `${undelivered}: ${request} stopped the user's events${ended}.`,
    command: `posthaste deletions get ${by.id}`,
  };
}

export const stoppingDeletion = z
  .object({
    id: z.string().describe("As GET /v1/deletions/{id} takes it."),
    requestedAt: z.iso.datetime(),
    ended: z.boolean().describe("The suppression ended since: what is sent of the user now is delivered."),
  })
  .nullable()
  .describe("suppressed: the deletion request that stopped it; null where that is not known, as the sentence says.");

export function viewDeletion(by: StoppedBy | undefined): z.output<typeof stoppingDeletion> {
  if (by === undefined || !("id" in by)) return null;
  return { id: by.id, requestedAt: isoTime(by.requestedAtMs), ended: by.state === "ended" };
}
