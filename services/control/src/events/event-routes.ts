/** "Why did this event not arrive?": the verdict on what a source sent under one message id. */
import type { Destination } from "@posthaste/core/config/destination";
import type { Source } from "@posthaste/core/config/source";
import type { SuppressedUsers } from "@posthaste/core/deletion/suppression";
import type { VerdictCause } from "@posthaste/core/verdict/verdict";
import { z } from "zod";
import type { ConfigStore } from "../config-store/config-store.ts";
import type { VisibleLetters } from "../deliveries/visible-letters.ts";
import { defineRoute, type Route } from "../http/route.ts";
import type { ReadModel } from "../read-model/read-model.ts";
import { suppressedKeyCheck } from "../suppressions/suppressed-key.ts";
import { findEventFacts } from "./event-facts.ts";
import { causeOfAll, judgeEvents, sourceIdOf } from "./event-verdict.ts";
import { eventAnswer, eventView } from "./event-view.ts";
import type { Names, Told } from "./verdict-sentences.ts";

export interface EventRoutesParts {
  readonly sources: ConfigStore<Source>;
  readonly destinations: ConfigStore<Destination>;
  readonly readModel: ReadModel;
  readonly letters: VisibleLetters;
  readonly suppressed: SuppressedUsers;
  readonly nowMs: () => number;
  /** How long attempts are held, ms. */
  readonly keepMs: number;
}

const query = z.strictObject({
  sourceId: z.string().optional().describe("Only the events of this source."),
});

export function eventRoutes(parts: EventRoutesParts): readonly Route[] {
  const { sources, destinations, suppressed, keepMs } = parts;
  const names: Names = {
    source: (id) => quoted(sources.get(id)?.name, id),
    destination: (id) => quoted(destinations.get(id)?.name, id),
  };
  const isSuppressed = suppressedKeyCheck(suppressed);
  return [
    defineRoute({
      method: "GET",
      path: "/v1/events/{messageId}",
      operation: "getEvent",
      summary: "What became of the events under a message id, and why",
      query,
      answer: {
        status: 200,
        description: "The verdict; where nothing is known of the message id, that.",
        body: { name: "EventVerdict", schema: eventAnswer },
      },
      handle: async ({ params: { messageId }, query: { sourceId } }) => {
        const facts = await findEventFacts(messageId, parts);
        const terms = { nowMs: parts.nowMs(), isSuppressed };
        const judged = judgeEvents(facts, { ...terms, destinations: destinations.values() }).filter(
          (each) => sourceId === undefined || sourceIdOf(each) === sourceId,
        );
        const events = judged.map((each) => eventView(each, { ...terms, messageId, names }));
        const cause = causeOfAll(judged, facts);
        const leading = events.find((each) => each.cause === cause);
        const told = leading ?? tellNothing(cause, keepMs);
        return { messageId, cause, sentence: told.sentence, command: told.command, events, ...facts.fresh };
      },
    }),
  ];
}

function quoted(name: string | undefined, id: string): string {
  return name === undefined ? id : `"${name}"`;
}

function tellNothing(cause: VerdictCause, keepMs: number): Told {
  if (cause === "suppressed") {
    const sentence = "Not delivered: a deletion request stopped the user's events.";
    return { sentence, command: "posthaste deletions list" };
  }
  const days = Math.round(keepMs / 86_400_000);
  const searched = `what was logged in the last ${days} days`;
  return {
    sentence:
      `Nothing is known of this message id in ${searched}: it never came, it is under way, ` +
      "or it was delivered where delivery logs failures alone.",
    command: "posthaste doctor",
  };
}
