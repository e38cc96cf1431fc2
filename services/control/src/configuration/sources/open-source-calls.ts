/** A source's calls, put together from their parts. */
import type { OpenCodec } from "@posthaste/contracts/codec";
import type { TopicNames } from "@posthaste/contracts/topics";
import type { Event } from "@posthaste/core/event/event";
import type { Clock } from "@posthaste/core/time";
import type { Route } from "@posthaste/http-kit/route";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { EventTail } from "./event-tail.ts";
import { type SourceCallRoutesOptions, sourceCallRoutes } from "./source-call-routes.ts";

export interface OpenSourceCallsOptions extends Omit<SourceCallRoutesOptions, "tail" | "nowMs"> {
  readonly connection: KafkaConnection;
  readonly openCodec: OpenCodec;
  readonly names: Pick<TopicNames, "events">;
  readonly unknownSchemaMs: number;
  readonly clock: Clock;
}

export interface OpenSourceCalls {
  readonly routes: readonly Route[];
  readonly tail: EventTail;
  close(): Promise<void>;
}

export async function openSourceCalls(options: OpenSourceCallsOptions): Promise<OpenSourceCalls> {
  const { connection, openCodec, names, unknownSchemaMs, clock } = options;
  const codec = await openCodec<Event>("event");
  const { monotonicMs } = clock;
  const tail = new EventTail({ connection, topic: names.events, codec, unknownSchemaMs, monotonicMs });
  return { routes: sourceCallRoutes({ ...options, tail, nowMs: clock.nowMs }), tail, close: () => tail.close() };
}
