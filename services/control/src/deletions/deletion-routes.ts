/** Deletion requests: a `delete` event for each affected source, so that receivers can start their own automation. */
import type { Codec } from "@posthaste/contracts/codec";
import type { Destination } from "@posthaste/core/config/destination";
import type { Source } from "@posthaste/core/config/source";
import type { Event } from "@posthaste/core/event/event";
import type { Log } from "@posthaste/core/log";
import { eventKey } from "@posthaste/core/routing/partition-key";
import type { Clock } from "@posthaste/core/time";
import { withDeadline } from "@posthaste/kafka/connection/deadline";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";
import { z } from "zod";
import { type ConfigStore, WRITE_DEADLINE_MS } from "../config-store/config-store.ts";
import { bareEvent } from "../events/bare-event.ts";
import { defineRoute, type Route } from "../http/route.ts";
import { createId } from "../identifiers.ts";
import { assertSources } from "../sources/source-access.ts";

export interface DeletionRoutesOptions {
  readonly sources: ConfigStore<Source>;
  readonly destinations: ConfigStore<Destination>;
  readonly producer: Producer;
  readonly eventsTopic: string;
  readonly eventCodec: Codec<Event>;
  readonly clock: Clock;
  readonly log: Log;
}

const deletionInput = z.strictObject({
  userId: z.string().min(1, "a user id is needed").max(8192).describe("Whose data is to be deleted."),
  sourceIds: z
    .array(z.string())
    .min(1, "name at least one source, or leave this out for all")
    .optional()
    .describe("The sources that the request concerns; all when absent."),
});

const deletionAnswer = z.object({
  id: z.string(),
  notifications: z
    .int()
    .describe("How many notifications are forwarded: one for each affected source to each enabled destination of it."),
});

export function deletionRoutes(options: DeletionRoutesOptions): readonly Route[] {
  const { sources, destinations, producer, eventsTopic, eventCodec, clock, log } = options;
  const send = (records: readonly OutgoingRecord[]) =>
    withDeadline(producer.send(records, { patienceMs: WRITE_DEADLINE_MS }), WRITE_DEADLINE_MS, "the brokers");

  return [
    defineRoute({
      method: "POST",
      path: "/v1/deletions",
      operation: "createDeletion",
      summary: "Tell receivers to delete a user: a delete event for each source that has a destination enabled",
      body: { name: "DeletionInput", schema: deletionInput },
      answer: {
        status: 202,
        description: "The brokers have the events.",
        body: { name: "Deletion", schema: deletionAnswer },
      },
      handle: async ({ body: { userId, sourceIds } }) => {
        const affected = sourceIds ?? [...sources.values()].map(({ id }) => id);
        assertSources(affected, sources);
        const id = createId("del");
        const receivers = countReceivers(destinations.values());
        const notified = [...new Set(affected)].filter((sourceId) => receivers.has(sourceId));
        const records = notified.map((sourceId) => {
          const messageId = `${id}:${sourceId}`;
          const event = bareEvent({ messageId, sourceId, type: "delete", userId, nowMs: clock.nowMs() });
          return { topic: eventsTopic, key: eventKey(sourceId, event), value: eventCodec.encode(event) };
        });
        if (records.length > 0) await send(records);
        const notifications = notified.reduce((sum, sourceId) => sum + (receivers.get(sourceId) ?? 0), 0);
        log.info({ event: "deletion_requested", deletionId: id, sources: notified.length, notifications });
        return { id, notifications };
      },
    }),
  ];
}

/** Source id to how many enabled destinations it has; a source without any is absent. */
function countReceivers(destinations: Iterable<Destination>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { enabled, sourceIds } of destinations) {
    if (!enabled) continue;
    for (const sourceId of sourceIds) counts.set(sourceId, (counts.get(sourceId) ?? 0) + 1);
  }
  return counts;
}
