/** Puts together the doctor's checks from control's parts. */
import type { ConfigStore } from "@posthaste/configuration/config-store";
import { SCHEMA_NAMES, type SchemaName, type TopicNames } from "@posthaste/contracts/topics";
import type { Destination } from "@posthaste/core/config/destination";
import type { Clock } from "@posthaste/core/time";
import { brokerCheck, FAILOVER_SETTINGS } from "@posthaste/doctor/broker-check";
import type { Check, Finding } from "@posthaste/doctor/check";
import { createClusterLook, retryTopicsFrom } from "@posthaste/doctor/cluster-look";
import { groupCheck, offsetCheck } from "@posthaste/doctor/group-check";
import { groupTopics, readCommitted, toReadGroups } from "@posthaste/doctor/group-topics";
import { reachCheck } from "@posthaste/doctor/reach-check";
import { REGISTRY_TOPICS, registryCheck } from "@posthaste/doctor/registry-check";
import { replicationFindings } from "@posthaste/doctor/replication-check";
import { secretKeyCheck } from "@posthaste/doctor/secret-key-check";
import { serviceCheck, tableCheck } from "@posthaste/doctor/service-check";
import { type ConfiguredTopics, topicFindings } from "@posthaste/doctor/topic-check";
import type { Route } from "@posthaste/http-kit/route";
import { createRegistryState } from "@posthaste/kafka/codec/registry-state";
import { createSchemaState, type SchemaState, type SchemaStateOptions } from "@posthaste/kafka/codec/schema-state";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { readBrokerSettings } from "@posthaste/kafka/topics/broker-settings";
import { readGroupMembers } from "@posthaste/kafka/topics/group-members";
import { readTopics } from "@posthaste/kafka/topics/topic-admin";
import { TOPICS_PROGRAM } from "@posthaste/kafka/topics/topic-generation";
import type { Readiness } from "@posthaste/runtime/admin-server";
import type { WebhookSender } from "@posthaste/webhook/sender";
import { type Loss, lossInWords } from "../../operations/losses/find-losses.ts";
import type { Losses } from "../../operations/losses/open-losses.ts";
import type { StalledPartition } from "../health/lag-watch.ts";
import type { ReportedHealth } from "../health/open-health.ts";
import { clockCheck } from "./clock-check.ts";
import { createDoctor, type Doctor, doctorRoutes } from "./doctor-routes.ts";
import { askVersions, type ServiceAddress } from "./service-readiness.ts";
import { settingsCheck } from "./settings-check.ts";

const FINDINGS: Readonly<Record<SchemaState, (schema: SchemaName) => readonly Finding[]>> = {
  registered: () => [],
  missing: (schema) => [
    {
      state: "wrong",
      what: `The schema registry lacks the schema ${schema} of this version.`,
      remedy: `Run ${TOPICS_PROGRAM}, which registers every schema.`,
    },
  ],
  loose: (schema) => [
    {
      state: "warning",
      what: `The subject of the schema ${schema} takes schemas that cannot read what the earlier ones wrote.`,
      remedy: `Set its compatibility to BACKWARD_TRANSITIVE; ${TOPICS_PROGRAM} does so where it may.`,
    },
  ],
};

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
  readonly reach: WebhookSender["reach"];
  /** Control's own release. */
  readonly version: string;
  /** False where the brokers would deny their settings and the registry's topics, which are not control's own. */
  readonly asksBrokers: boolean;
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

export interface OpenedDoctor extends Doctor {
  readonly routes: readonly Route[];
}

export function openDoctor(options: OpenDoctorOptions): OpenedDoctor {
  const {
    connection,
    names,
    clock,
    destinations,
    reportedHealth,
    readiness,
    services,
    registry,
    reported,
    asksBrokers,
  } = options;
  const { book, flow, clocks, fresh } = reportedHealth;
  const processes = () => book.processes();
  const retryDelays = () => processes().flatMap(({ retryDelaysMs }) => retryDelaysMs);
  const cluster = createClusterLook(connection, names, retryDelays);
  const checks = [
    serviceCheck({ readiness, version: options.version, versions: () => askVersions(services) }),
    tableCheck(readiness),
    brokerCheck({
      state: () => connection.brokersState(),
      unresponsive: () => connection.unresponsiveBrokers(),
      settings: async () => (asksBrokers ? readBrokerSettings(connection, [...FAILOVER_SETTINGS.keys()]) : []),
    }),
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
    registryCheck({
      state: createRegistryState({ ...registry, names }),
      topics: async () => (asksBrokers ? readTopics(connection, REGISTRY_TOPICS) : []),
    }),
    schemaCheck(createSchemaState({ ...registry, names })),
    clockCheck({
      nowMs: clock.nowMs,
      services,
      processes: () => clocks.clocks(),
      topicsFrom: (atMs) => retryTopicsFrom(connection, names, atMs),
    }),
    secretKeyCheck({ destinations: () => destinations.values(), saidOf: (id) => book.of(id) }),
    groupCheck({
      groups: async () => toReadGroups(await groupTopics(connection, names), (await cluster()).topics),
      members: (groupIds) => readGroupMembers(connection, groupIds),
    }),
    offsetCheck(
      async () => readCommitted(connection, await groupTopics(connection, names)),
      [names.deliveryGroup, names.retryGroup],
    ),
    lagCheck(() => flow.stalled()),
    lossCheck(options.losses.find),
    settingsCheck(processes),
  ];
  const reach = reachCheck({ destinations: () => destinations.values(), reach: options.reach });
  const doctor = createDoctor(checks, [reach]);
  return { ...doctor, routes: doctorRoutes(doctor, fresh) };
}

/** Checks that the consumer groups make progress on the records before them. */
function lagCheck(stalled: () => readonly StalledPartition[]): Check {
  return {
    name: "lag",
    look: () =>
      stalled().map(({ topic, partition, groupId, behind, stalledMs }) => ({
        state: "wrong",
        what:
          `${groupId} has finished nothing of ${topic}/${partition} for ${Math.round(stalledMs / 1000)} s, ` +
          `and ${behind === 1 ? "one record waits" : `${behind} records wait`}.`,
        remedy: `See whether a process of ${groupId} runs and what its log says; its /readyz names what it waits for.`,
      })),
  };
}

/** Checks that no record was deleted before delivery had finished it. */
export function lossCheck(find: () => Promise<readonly Loss[]>): Check {
  return {
    name: "losses",
    look: async () =>
      (await find()).map((loss) => ({
        state: "wrong",
        what: `Records were deleted before delivery had finished them, and delivery does not go on: ${lossInWords(loss)}.`,
        remedy:
          "See that retention.ms of the topic is seven days at the least and that nobody deletes its records; then run " +
          "posthaste topics accept-loss, and start delivery if nothing starts it.",
      })),
  };
}

/** Checks that the registry holds every schema of ours, and accepts only versions that can read the earlier ones. */
function schemaCheck(lookUp: (schema: SchemaName) => Promise<SchemaState>): Check {
  return {
    name: "schemas",
    look: async () => {
      const states = await Promise.all(SCHEMA_NAMES.map(async (schema) => [schema, await lookUp(schema)] as const));
      return states.flatMap(([schema, state]) => FINDINGS[state](schema));
    },
  };
}
