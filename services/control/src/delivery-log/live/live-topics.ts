/**
 * The feeds of each live topic, which entries they show and the rows they send: the rows of the topic's list, with the
 * same fields masked and left out.
 */

import type { HeldEntry } from "@posthaste/configuration/audit-log";
import type { OpenedAudit } from "@posthaste/configuration/open-audit";
import type { SuppressedKeyCheck } from "@posthaste/deletions/suppressed-key";
import type { ProjectionEntry } from "@posthaste/read-model/projection-entry";
import type { ReadModel } from "@posthaste/read-model/read-model";
import { auditCheck, viewAuditEntry } from "../../configuration/audit/audit-routes.ts";
import { HealthChanges } from "../../health/health/health-changes.ts";
import type { LiveHealth } from "../../health/health/open-health.ts";
import type { OpenedReplays } from "../../operations/replays/open-replays.ts";
import { attemptCheck } from "../deliveries/attempt-filter.ts";
import { viewDeadLetter } from "../deliveries/dead-letter-view.ts";
import { seenDelivery, viewDelivery } from "../deliveries/delivery-routes.ts";
import type { VisibleDeadLetters } from "../deliveries/visible-dead-letters.ts";
import { createOpenCalls, type LiveCallsParts } from "./live-calls.ts";
import type { LiveFilter, LiveTopicName } from "./live-filter.ts";
import { createLiveTopic, type LiveFeed, type LiveTopic, remembered } from "./live-topic.ts";

export interface LiveTopicsOptions {
  readonly readModel: Pick<ReadModel, "freshness" | "recent">;
  readonly deadLetters: Pick<VisibleDeadLetters, "shows" | "stateOf">;
  readonly isSuppressed: SuppressedKeyCheck;
  readonly audit: OpenedAudit["live"];
  readonly replays: OpenedReplays["live"];
  readonly health: LiveHealth;
  readonly calls: Omit<LiveCallsParts, "readModel">;
}

/**
 * Opens the feeds of the live topics that a stream asks for, which live until `signal` is aborted; throws a Problem
 * where it cannot.
 */
export type OpenFeeds = (
  topics: readonly LiveTopicName[],
  filter: LiveFilter,
  signal: AbortSignal,
) => Promise<readonly LiveFeed[]>;

type SharedTopic = Exclude<LiveTopicName, "calls">;

/** Each feed's letter in an event's id. */
const LETTERS: Readonly<Record<SharedTopic, string>> = {
  ...{ deliveries: "d", "dead-letters": "l", replays: "r", health: "h", audit: "a" },
};

export function createOpenFeeds(options: LiveTopicsOptions): OpenFeeds {
  const shared = sharedTopics(options);
  const openCalls = createOpenCalls({ ...options.calls, readModel: options.readModel });
  return async (names, filter, signal) => {
    const opened = names.map((name) =>
      name === "calls"
        ? openCalls(filter.sourceId ?? "", signal)
        : [{ name, letter: LETTERS[name], topic: shared[name] }],
    );
    return (await Promise.all(opened)).flat();
  };
}

function sharedTopics(options: LiveTopicsOptions): Readonly<Record<SharedTopic, LiveTopic>> {
  const { readModel, deadLetters, isSuppressed, audit, replays, health } = options;
  const deliveryRow = remembered(viewDelivery);
  return {
    deliveries: createLiveTopic<ProjectionEntry>({
      recent: readModel.recent.attempts,
      freshness: () => readModel.freshness("attempts"),
      shows: showsAttempt,
      rowOf: (entry) => seenDelivery(deliveryRow(entry), isSuppressed),
    }),
    "dead-letters": createLiveTopic<ProjectionEntry>({
      recent: readModel.recent.dead_letters,
      freshness: () => readModel.freshness("dead_letters"),
      shows: ({ destinationId, reason, error, type, userId, sourceId, event }) =>
        deadLetters.shows({ destinationId, reason, error, type, userId, sourceId, event }),
      rowOf: remembered((entry) => viewDeadLetter(entry, (letter) => deadLetters.stateOf(letter))),
    }),
    replays: createLiveTopic({
      recent: replays.recent,
      freshness: () => replays.freshness,
      shows:
        ({ replayId }) =>
        ({ id }) =>
          replayId === undefined || replayId === id,
      rowOf: (change, { offset }) => replays.rowOf(change, offset),
    }),
    health: createLiveTopic({
      recent: health.recent,
      freshness: health.freshness,
      shows:
        ({ destinationId }) =>
        (change) =>
          destinationId === undefined || destinationId === change.destinationId,
      rowOf: (change, { offset }) => health.rowOf(change, offset),
      resumeFrom: HealthChanges.before,
    }),
    audit: createLiveTopic<HeldEntry>({
      recent: audit.recent,
      freshness: () => audit.freshness,
      shows: ({ actor, target, operation }) => auditCheck({ actor, target, operation }),
      rowOf: remembered(viewAuditEntry),
    }),
  };
}

function showsAttempt(filter: LiveFilter): (entry: ProjectionEntry) => boolean {
  const { destinationId, outcome, messageId, type, sourceId, userId, event, replayId, attempt, error, statusClass } =
    filter;
  const fits = attemptCheck({ type, sourceId, userId, event, replayId, attempt, error, statusClass }) ?? (() => true);
  return (entry) =>
    (destinationId ?? entry.destinationId) === entry.destinationId &&
    (outcome ?? entry.kind) === entry.kind &&
    (messageId ?? entry.messageId) === entry.messageId &&
    fits(entry);
}
