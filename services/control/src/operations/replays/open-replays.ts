/** Opens the parts of control that deal with replays and purges. */

import type { AuditTrail } from "@posthaste/configuration/audit-trail";
import type { ConfigStore } from "@posthaste/configuration/config-store";
import type { OpenCodec } from "@posthaste/contracts/codec";
import { type AvroReplayRecord, createReplayCodec } from "@posthaste/contracts/replay-codec";
import type { TopicNames } from "@posthaste/contracts/topics";
import type { Destination } from "@posthaste/core/config/destination";
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import { isPosthasteError } from "@posthaste/core/errors";
import type { Freshness } from "@posthaste/core/freshness";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import { DeadLetterJudge } from "@posthaste/dead-letters/dead-letter-judge";
import type { DeadLetterReaderOptions } from "@posthaste/dead-letters/dead-letter-reader";
import { DeadLetterTopic } from "@posthaste/dead-letters/dead-letter-topic";
import { PastPlans } from "@posthaste/dead-letters/plan-dead-letters";
import { Planner } from "@posthaste/dead-letters/planner";
import { type PlanChange, ReplayChanges } from "@posthaste/dead-letters/replay-changes";
import { ReplayRunner, removeOver } from "@posthaste/dead-letters/replay-runner";
import { type HeldPlan, openReplayStore, type ReplayStore } from "@posthaste/dead-letters/replay-store";
import { ReplayedDeadLetters } from "@posthaste/dead-letters/replayed-dead-letters";
import { ReportedCounts } from "@posthaste/dead-letters/reported-counts";
import type { Route } from "@posthaste/http-kit/route";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import type { RecentEntries } from "@posthaste/kafka/log/recent-entries";
import type { SuppressedUsersTable } from "@posthaste/kafka/log/suppressed-users";
import { createProducer } from "@posthaste/kafka/producer/producer";
import type { ReadModel } from "@posthaste/read-model/read-model";
import type { Traces } from "@posthaste/runtime/traces";
import type { LeaderTasks } from "../jobs/leader-tasks.ts";
import { purgeRoutes } from "./purge-routes.ts";
import { ReplayHandlers } from "./replay-handlers.ts";
import { replayRoutes } from "./replay-routes.ts";
import { replayAnswer, viewReplay } from "./replay-view.ts";

export interface OpenReplaysOptions {
  readonly connection: KafkaConnection;
  readonly openCodec: OpenCodec;
  readonly names: TopicNames;
  readonly destinations: ConfigStore<Destination>;
  readonly suppressed: SuppressedUsersTable;
  readonly readModel: ReadModel;
  readonly trail: AuditTrail;
  readonly clock: Clock;
  readonly log: Log;
  /** Led by the process that runs replays. */
  readonly leader: LeaderTasks;
  /** See ConfigStoreOptions. */
  readonly writer: number;
  /** Ends the process. */
  readonly fail: (reason: Error) => void;
  /** Called when the brokers took so many deliveries of a replay. */
  readonly onReplayed: (deliveries: number) => void;
  /** Undefined while traces are off. */
  readonly traces: Traces | undefined;
}

export interface OpenedReplays {
  readonly routes: readonly Route[];
  readonly past: PastPlans;
  readonly live: LiveReplays;
  readonly plans: () => Iterable<HeldPlan>;
  /** The options with which other parts read dead letters. */
  readonly reading: DeadLetterReaderOptions;
  /** The state of the table of plans, for `/readyz`. */
  readonly state: true | string;
  caughtUp(): Promise<void>;
  /** Starts to note the dead letters that replays sent. Call it when all tables have caught up. */
  start(): void;
  /** Starts to run replays and to lead, where the group chooses this process. All tables must have caught up. */
  startJobs(): void;
  close(): Promise<void>;
}

/** Changes of replays, for the live stream. */
export interface LiveReplays {
  readonly recent: RecentEntries<PlanChange>;
  readonly freshness: Freshness;
  /**
   * A replay as the list shows it, without the outcomes of its deliveries; null for a plan that is not listed, and for
   * a change that is not the plan's newest.
   */
  rowOf(change: PlanChange, offset: number): object | null;
}

/** Resolves when the table is being read. */
export async function openReplays(options: OpenReplaysOptions): Promise<OpenedReplays> {
  const { connection, openCodec, names, destinations, fail } = options;
  const [records, deadLetters, deliveries, deadLetterTopic, producer] = await Promise.all([
    openCodec<AvroReplayRecord>("replay"),
    openCodec<DeadLetter>("dead-letter"),
    openCodec<Delivery>("delivery"),
    DeadLetterTopic.open(connection, names.deadLetters),
    // A producer of its own, so that progress and configuration do not wait for one another.
    createProducer(connection, { name: "replay-records", topics: [names.replays, names.audit] }),
  ]);
  const changes = new ReplayChanges();
  const reported = new ReportedCounts({ ...options, store: () => store, planner: () => planner });
  const store: ReplayStore = await openReplayStore(connection, {
    ...options,
    ...{ topic: names.replays, codec: createReplayCodec(records), producer },
    onRecord: (planId, offset) => changes.note(planId, offset),
    onCounting: (key, counting) => reported.note(key, counting),
  });
  const past = new PastPlans(store, deadLetterTopic);
  const destinationOf = (id: string): Destination | undefined => destinations.get(id);
  const judge = new DeadLetterJudge({ ...options, past, destinationOf });
  const sent = new ReplayedDeadLetters({ ...options, past });
  const reading = { topic: names.deadLetters, codec: deadLetters };
  const planner = new Planner({ ...options, ...reading, judge, past, deadLetterTopic });
  const handlers = new ReplayHandlers({ ...options, store, planner, reported });
  options.leader.add("replays", (signal) => removeOver({ ...options, store }, signal));
  options.leader.add("counts", (signal) => reported.removeLeft(signal));
  const runner = new ReplayRunner({
    ...{ ...options, store, judge, deadLetters, deliveries, onFailure: fail },
    lead: (signal) => options.leader.lead(signal),
    settlesEach: (destinationId) => destinations.get(destinationId)?.settle === "each",
  });
  return {
    routes: [...replayRoutes(handlers, options.readModel), ...purgeRoutes(handlers)],
    past,
    live: {
      recent: changes.recent,
      get freshness() {
        return store.freshness;
      },
      rowOf: (change, offset) => {
        const held = changes.isNewest(change, offset) ? handlers.listed(change.id) : undefined;
        return held === undefined ? null : replayAnswer.parse(viewReplay(held, null));
      },
    },
    plans: () => store.plans(),
    reading: { connection, ...reading },
    get state() {
      return store.state;
    },
    caughtUp: async () => {
      await store.caughtUp();
      reported.caughtUp();
    },
    start: () => sent.start(),
    startJobs: () => {
      runner.start().catch((reason: Error) => {
        if (!isPosthasteError(reason, "closed")) fail(reason);
      });
    },
    close: async () => {
      handlers.close();
      await sent.close();
      deadLetterTopic.close();
      await runner.stop();
      await reported.close();
      await store.close();
      await producer.close();
    },
  };
}
