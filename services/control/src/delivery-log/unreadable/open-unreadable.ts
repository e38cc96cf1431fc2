/**
 * Quarantines the records that control itself cannot read, each once, and opens the list of the records that all
 * services quarantined.
 */

import type { AuditTrail } from "@posthaste/configuration/audit-trail";
import type { TopicNames } from "@posthaste/contracts/topics";
import type { PosthasteError } from "@posthaste/core/errors";
import type { Clock } from "@posthaste/core/time";
import type { Route } from "@posthaste/http-kit/route";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { createProducer } from "@posthaste/kafka/producer/producer";
import { UnreadableRecords } from "@posthaste/kafka/producer/unreadable-records";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import { reproduce } from "./reproduction.ts";
import { placeOf } from "./unreadable-entries.ts";
import { UnreadableLog } from "./unreadable-log.ts";
import { unreadableRoutes } from "./unreadable-routes.ts";

export interface OpenUnreadableOptions {
  readonly connection: KafkaConnection;
  readonly names: TopicNames;
  readonly clock: Clock;
  readonly trail: AuditTrail;
  /** Ends the process. */
  readonly fail: (reason: Error) => void;
}

export interface OpenUnreadable {
  readonly routes: readonly Route[];
  /**
   * Quarantines a record that control cannot read, unless the log of unreadable records holds it already: control reads
   * the topic from its start at each start, and meets the same record again.
   */
  put(record: IncomingRecord, error: PosthasteError): Promise<void>;
  close(): Promise<void>;
}

export async function openUnreadable(options: OpenUnreadableOptions): Promise<OpenUnreadable> {
  const { connection, names, clock, trail, fail } = options;
  const topic = names.unreadable;
  const unreadableLog = new UnreadableLog(connection, topic, fail);
  await unreadableLog.begun();
  const producer = await createProducer(connection, { name: "unreadable", topics: [topic] });
  const from = [
    names.attempts,
    names.deadLetters,
    names.unrouted,
    names.rejectedCalls,
    names.sourceActivity,
    names.audiences,
  ];
  const records = new UnreadableRecords({
    ...{ connection, producer, topic, from, by: "control", nowMs: () => clock.nowMs() },
  });
  return {
    routes: unreadableRoutes({
      unreadableLog,
      clock,
      trail,
      reproduce: (entries, audited) => reproduce(connection, names, entries, audited),
    }),
    put: async (record, error) => {
      await unreadableLog.caughtUp();
      if (!unreadableLog.has(placeOf(record))) await records.put(record, error);
    },
    close: async () => {
      unreadableLog.close();
      await producer.close();
    },
  };
}
