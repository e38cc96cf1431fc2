/** Opens the parts of control that deal with deletion requests and suppressions. */

import type { AuditTrail } from "@posthaste/configuration/audit-trail";
import type { ConfigStore } from "@posthaste/configuration/config-store";
import type { OpenCodec } from "@posthaste/contracts/codec";
import type { TopicNames } from "@posthaste/contracts/topics";
import type { Destination } from "@posthaste/core/config/destination";
import type { Source } from "@posthaste/core/config/source";
import type { Deletion } from "@posthaste/core/deletion/deletion";
import type { Event } from "@posthaste/core/event/event";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import { DeletionRunner } from "@posthaste/deletions/deletion-runner";
import { openDeletionStore } from "@posthaste/deletions/deletion-store";
import { LeftDeletions } from "@posthaste/deletions/left-deletions";
import { openSuppressions } from "@posthaste/deletions/open-suppressions";
import { StoppingDeletions } from "@posthaste/deletions/stopping-deletions";
import type { Route } from "@posthaste/http-kit/route";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import type { SuppressedUsersTable } from "@posthaste/kafka/log/suppressed-users";
import type { Producer } from "@posthaste/kafka/producer/producer";
import type { ReadModel } from "@posthaste/read-model/read-model";
import { suppressionRoutes } from "../suppressions/suppression-routes.ts";
import { DeletionHandlers } from "./deletion-handlers.ts";
import { deletionRoutes } from "./deletion-routes.ts";

export interface OpenDeletionsOptions {
  readonly connection: KafkaConnection;
  readonly openCodec: OpenCodec;
  readonly names: TopicNames;
  readonly sources: ConfigStore<Source>;
  readonly destinations: ConfigStore<Destination>;
  readonly readModel: ReadModel;
  readonly producer: Producer;
  readonly trail: AuditTrail;
  /** After how many days suppressions end by themselves; undefined for never. */
  readonly suppressionDays: number | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** See ConfigStoreOptions. */
  readonly writer: number;
  /** Called when a topic cannot be followed any more. */
  readonly fail: (reason: Error) => void;
}

export interface Deletions {
  readonly routes: readonly Route[];
  readonly suppressed: SuppressedUsersTable;
  readonly stopping: StoppingDeletions;
  /** For `/readyz`; see Table. */
  readonly states: readonly (true | string)[];
  caughtUp(): Promise<void>;
  /**
   * Starts to carry out requests that another process left, and to end suppressions that are over. Call it when all
   * tables have caught up.
   */
  startJobs(): void;
  close(): Promise<void>;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Resolves when the tables are being read. */
export async function openDeletions(options: OpenDeletionsOptions): Promise<Deletions> {
  const { connection, openCodec, names, sources, readModel, suppressionDays, trail, fail: onFailure } = options;
  const [codec, eventCodec] = await Promise.all([openCodec<Deletion>("deletion"), openCodec<Event>("event")]);
  const [store, { suppressed, writer, expiry }] = await Promise.all([
    openDeletionStore({ ...options, topic: names.deletions, codec, onFailure }),
    openSuppressions({ ...options, topic: names.suppressions, onFailure }),
  ]);
  const events = { eventsTopic: names.events, eventCodec };
  const runner = new DeletionRunner({ ...options, ...events, store, suppressions: writer });
  const left = new LeftDeletions({ ...options, store, runner });
  const suppressionMs = suppressionDays === undefined ? null : suppressionDays * DAY_MS;
  const handlers = new DeletionHandlers({ ...options, store, runner, readModel, suppressionMs });
  return {
    routes: [...deletionRoutes(handlers), ...suppressionRoutes({ sources, suppressed, writer, trail })],
    suppressed,
    stopping: new StoppingDeletions({ store, suppressed }),
    get states() {
      return [store.state, suppressed.state];
    },
    caughtUp: async () => {
      await Promise.all([store.caughtUp(), suppressed.caughtUp()]);
      connection.log.info({ event: "suppressions_read", users: suppressed.size });
    },
    startJobs: () => {
      left.start();
      expiry.start();
    },
    close: async () => {
      left.close();
      await Promise.all([expiry.close(), store.close(), suppressed.close()]);
    },
  };
}
