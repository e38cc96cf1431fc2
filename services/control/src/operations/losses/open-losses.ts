/** Opens the parts of control that deal with records which were deleted before their time. */

import type { AuditTrail } from "@posthaste/configuration/audit-trail";
import type { TopicNames } from "@posthaste/contracts/topics";
import type { Clock } from "@posthaste/core/time";
import type { Route } from "@posthaste/http-kit/route";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { type RecordPlace, readRecord } from "@posthaste/kafka/log/read-record";
import type { Table } from "@posthaste/kafka/log/table";
import { createProducer } from "@posthaste/kafka/producer/producer";
import { acceptedLossesIn, openMetaTable } from "@posthaste/kafka/topics/accepted-losses";
import { findLosses, type Loss } from "./find-losses.ts";
import { lossRoutes } from "./loss-routes.ts";
import { createLostOf, type LostOf } from "./lost-delivery.ts";

export interface OpenLossesOptions {
  readonly connection: KafkaConnection;
  readonly names: TopicNames;
  readonly clock: Clock;
  readonly trail: AuditTrail;
  /** Ends the process. */
  readonly fail: (reason: Error) => void;
}

export interface Losses {
  /** The losses that nobody has accepted yet. */
  readonly find: () => Promise<readonly Loss[]>;
  readonly lostOf: LostOf;
  /** The facts of the meta topic, as text. */
  readonly facts: Table<string>;
  readonly routes: readonly Route[];
  readonly close: () => Promise<void>;
}

const REFRESH_MS = 5000;
/** How long to wait for a record, in ms: a log may hold none. */
const RECORD_MS = 2000;

/** Resolves when the reader of the meta topic has begun. */
export async function openLosses({ connection, names, clock, trail, fail }: OpenLossesOptions): Promise<Losses> {
  const table = await openMetaTable(connection, names, { onFailure: fail });
  const producer = await createProducer(connection, { name: "losses", topics: [names.meta, names.audit] });
  const accepted = () => acceptedLossesIn(table);
  const find = async () => {
    await table.refresh(REFRESH_MS);
    return await findLosses(connection, names, accepted());
  };
  const writtenAtMs = async (place: RecordPlace) => {
    const record = await readRecord(connection, place, RECORD_MS).catch(() => null);
    return record?.timestampMs ?? null;
  };
  return {
    find,
    facts: table,
    lostOf: createLostOf(names, accepted),
    routes: lossRoutes({ find, writtenAtMs, topic: names.meta, producer, trail, clock }),
    close: async () => {
      await producer.close();
      await table.close();
    },
  };
}
