/** Puts together the parts of control that explain the outcomes of events. */
import type { OpenCodec } from "@posthaste/contracts/codec";
import type { TopicNames } from "@posthaste/contracts/topics";
import type { SuppressedUsers } from "@posthaste/core/deletion/suppression";
import type { Event } from "@posthaste/core/event/event";
import type { Clock } from "@posthaste/core/time";
import type { StoppingDeletions } from "@posthaste/deletions/stopping-deletions";
import type { Route } from "@posthaste/http-kit/route";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { readRecord } from "@posthaste/kafka/log/read-record";
import { openPipelineSearch } from "@posthaste/pipeline/pipeline-search";
import { openScannedTopics } from "@posthaste/pipeline/scanned-topics";
import { TopicScan } from "@posthaste/pipeline/topic-scan";
import type { ResendAuthors } from "../../configuration/audit/resend-authors.ts";
import type { LostOf } from "../../operations/losses/lost-delivery.ts";
import { eventListRoutes } from "./event-list-routes.ts";
import type { LookupParts } from "./event-lookup.ts";
import { eventRoutes } from "./event-routes.ts";
import type { LiveDeliveryState } from "./live-delivery-state.ts";
import type { LogSettings } from "./logged-share.ts";
import type { NameDeletionsParts } from "./name-deletions.ts";
import { scanRoutes } from "./scan-routes.ts";

/** How long reading one event may take, in ms; after that the verdict goes without it. */
const EVENT_MS = 1000;

export interface OpenEventsOptions extends Omit<LookupParts, "pipeline" | "naming"> {
  readonly connection: KafkaConnection;
  readonly openCodec: OpenCodec;
  readonly names: TopicNames;
  readonly suppressed: SuppressedUsers;
  readonly stopping: Pick<StoppingDeletions, "find">;
  readonly beside: LiveDeliveryState;
  readonly lostOf: LostOf;
  readonly authors: Pick<ResendAuthors, "of">;
  readonly clock: Clock;
  /** How long the delivery log holds attempts, in ms. */
  readonly keepMs: number;
  /** See `EventRoutesParts`. */
  readonly logSettings: () => readonly LogSettings[];
}

/** Resolves when the codecs are open. */
export async function openEvents(options: OpenEventsOptions): Promise<readonly Route[]> {
  const { connection, openCodec, names, clock } = options;
  const [pipeline, topics, eventCodec] = await Promise.all([
    openPipelineSearch({ connection, openCodec, names, clock }),
    openScannedTopics({ connection, openCodec, names }),
    openCodec<Event>("event"),
  ]);
  const naming: NameDeletionsParts = {
    deletions: options.stopping,
    readEvent: async (place) => {
      const record = await readRecord(connection, { topic: names.events, ...place }, EVENT_MS);
      if (record === null || record.value === null) return null;
      await eventCodec.prefetch(record.value);
      return eventCodec.decode(record.value);
    },
  };
  const parts = { ...options, pipeline, naming, nowMs: clock.nowMs };
  const scan = new TopicScan({ connection, topics, clock });
  return [...eventListRoutes(parts), ...eventRoutes(parts), ...scanRoutes({ scan })];
}
