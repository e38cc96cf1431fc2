/** Puts together the doctor's checks from control's parts. */

import type { ConfigStore } from "@posthaste/configuration/config-store";
import type { TopicNames } from "@posthaste/contracts/topics";
import type { Destination } from "@posthaste/core/config/destination";
import type { Clock } from "@posthaste/core/time";
import type { Route } from "@posthaste/http-kit/route";
import { createSchemaState, type SchemaStateOptions } from "@posthaste/kafka/codec/schema-state";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import type { Readiness } from "@posthaste/runtime/admin-server";
import type { Losses } from "../../operations/losses/open-losses.ts";
import type { ReportedHealth } from "../health/open-health.ts";
import { clockCheck } from "./clock-check.ts";
import { createClusterLook, retryTopicsFrom } from "./cluster-look.ts";
import { createLookAround, doctorRoutes, type LookAround } from "./doctor-routes.ts";
import { lagCheck } from "./lag-check.ts";
import { lossCheck } from "./loss-check.ts";
import { replicationFindings } from "./replication-check.ts";
import { schemaCheck } from "./schema-check.ts";
import { secretKeyCheck } from "./secret-key-check.ts";
import { serviceCheck } from "./service-check.ts";
import type { ServiceAddress } from "./service-readiness.ts";
import { settingsCheck } from "./settings-check.ts";
import { type ConfiguredTopics, topicFindings } from "./topic-check.ts";

interface ConfiguredSettings {
  readonly POSTHASTE_PARTITIONS?: number | undefined;
  readonly POSTHASTE_REPLICATION_FACTOR?: number | undefined;
  readonly POSTHASTE_MIN_INSYNC_REPLICAS?: number | undefined;
}

export interface OpenDoctorOptions {
  readonly connection: KafkaConnection;
  readonly names: TopicNames;
  readonly clock: Clock;
  readonly destinations: Pick<ConfigStore<Destination>, "values">;
  readonly reportedHealth: ReportedHealth;
  readonly readiness: () => Promise<Readiness>;
  readonly services: readonly ServiceAddress[];
  readonly registry: Omit<SchemaStateOptions, "names">;
  readonly reported: ConfiguredTopics;
  readonly losses: Pick<Losses, "find">;
}

/**
 * The wanted partitions and copies, from the settings that control may share with the program that makes the topics.
 */
export function configuredTopics(config: ConfiguredSettings): ConfiguredTopics {
  return {
    partitions: config.POSTHASTE_PARTITIONS,
    replicationFactor: config.POSTHASTE_REPLICATION_FACTOR,
    minInsyncReplicas: config.POSTHASTE_MIN_INSYNC_REPLICAS,
  };
}

export interface Doctor {
  readonly routes: readonly Route[];
  readonly lookAround: LookAround;
}

export function openDoctor(options: OpenDoctorOptions): Doctor {
  const { connection, names, clock, destinations, reportedHealth, readiness, services, registry, reported } = options;
  const { book, flow, clocks, fresh } = reportedHealth;
  const processes = () => book.processes();
  const retryDelays = () => processes().flatMap(({ retryDelaysMs }) => retryDelaysMs);
  const cluster = createClusterLook(connection, names, retryDelays);
  const lookAround = createLookAround([
    serviceCheck(readiness),
    {
      name: "topics",
      look: async () =>
        topicFindings({ names, retryDelaysMs: retryDelays(), topics: (await cluster()).topics, reported }),
    },
    {
      name: "replication",
      look: async () => {
        const { topics, brokers } = await cluster();
        return replicationFindings(topics, brokers);
      },
    },
    schemaCheck(createSchemaState({ ...registry, names })),
    clockCheck({
      nowMs: clock.nowMs,
      services,
      processes: () => clocks.clocks(),
      topicsFrom: (atMs) => retryTopicsFrom(connection, names, atMs),
    }),
    secretKeyCheck({ destinations: () => destinations.values(), saidOf: (id) => book.of(id) }),
    lagCheck(() => flow.stalled()),
    lossCheck(options.losses.find),
    settingsCheck(processes),
  ]);
  return { lookAround, routes: doctorRoutes(lookAround, fresh) };
}
