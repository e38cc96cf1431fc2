/**
 * For each alert: series that fire it at a moment, and series that nearly do. Values are promtool's: `0+2x60` is 0, 2,
 * 4 and so on, one a minute, sixty times after the first; `1x5` is 1 six times.
 */
export type Series = Readonly<Record<string, string>>;

export interface AlertCase {
  readonly alert: string;
  /** From the beginning, as `12m`. */
  readonly at: string;
  readonly fires: Series;
  /** The near miss; null for an alert that always fires. */
  readonly misses: Series | null;
}

const calls = (accepted: number, unavailable: number): Series => ({
  'posthaste_ingest_calls_total{answer="accepted"}': `0+${accepted}x600`,
  'posthaste_ingest_calls_total{answer="unavailable"}': `0+${unavailable}x600`,
});
const attempts = (all: number, inTime: number): Series => ({
  posthaste_first_attempt_delay_seconds_count: `0+${all}x600`,
  'posthaste_first_attempt_delay_seconds_bucket{le="30"}': `0+${inTime}x600`,
});
const partition = 'instance="a",topic="posthaste.deliveries",partition="0"';
const held = { [`posthaste_partition_held_by_destination{${partition},destination="d"}`]: "1x60" };
const canaries = (received: string): Series => ({
  posthaste_canary_sent_total: "0+6x60",
  posthaste_canary_received_total: received,
});
const builds = (...services: readonly string[]): Series =>
  Object.fromEntries(services.map((service) => [`posthaste_build_info{service="${service}",version="1"}`, "1x200"]));
const findings = (check: string, severity: string): Series => ({
  [`posthaste_doctor_findings{check="${check}",severity="${severity}"}`]: "1x60",
});
const ready = (a: string, b: string): Series => ({
  'posthaste_ready{service="delivery",check="group",instance="a"}': a,
  'posthaste_ready{service="delivery",check="group",instance="b"}': b,
});
const told = (without?: string): Series => {
  const names = [
    "controller_kafkacontroller_activecontrollercount",
    "server_replicamanager_underminisrpartitioncount",
    "log_logmanager_offlinelogdirectorycount",
  ];
  return Object.fromEntries(names.flatMap((name) => (name === without ? [] : [[`kafka_${name}`, "0x60"]])));
};
const lost = (open: number): Series => ({
  'posthaste_deliveries_total{outcome="delivered"}': "0+60x90 5400x30",
  'posthaste_deliveries_total{outcome="retryable"}': "0x90 0+60x30",
  'posthaste_breaker_state{state="open"}': `0x90 ${open}x30`,
  'posthaste_breaker_state{state="closed"}': "60x120",
});
const ofDestination = (destination: string): Series => ({
  [`posthaste_destination_deliveries_total{destination="${destination}",outcome="delivered"}`]: "0+1x200",
  [`posthaste_destination_deliveries_total{destination="${destination}",outcome="retryable"}`]: "0+2x200",
});
const breakers = (open: number, closed: number): Series => ({
  'posthaste_breaker_state{state="open"}': `${open}x60`,
  'posthaste_breaker_state{state="closed"}': `${closed}x60`,
});
const one = (series: string, values: string): Series => ({ [series]: values });
const lateness = (within: number): Series => ({
  'posthaste_retry_lateness_seconds_bucket{topic="t",le="30"}': `0+${within}x60`,
  'posthaste_retry_lateness_seconds_bucket{topic="t",le="60"}': "0+100x60",
  'posthaste_retry_lateness_seconds_bucket{topic="t",le="+Inf"}': "0+100x60",
});
const controllers = (a: number, b: number): Series => ({
  'kafka_controller_kafkacontroller_activecontrollercount{instance="a"}': `${a}x60`,
  'kafka_controller_kafkacontroller_activecontrollercount{instance="b"}': `${b}x60`,
});
const disk = (free: number): Series => ({
  'node_filesystem_avail_bytes{mountpoint="/var/lib/kafka/data"}': `${free}x60`,
  'node_filesystem_size_bytes{mountpoint="/var/lib/kafka/data"}': "100x60",
});
const dropped = (values: string): Series => ({
  posthaste_attempt_log_dropped_total: values,
  posthaste_unrouted_dropped_total: "0x60",
});
const memory = (bytes: number): Series => ({
  'process_resident_memory_bytes{job="posthaste",instance="a"}': `${bytes}x60`,
  'posthaste_memory_limit_bytes{job="posthaste",instance="a"}': "100x60",
});
const owned = (...counts: readonly number[]): Series => ({
  'posthaste_partitions_expected{group="g",instance="a"}': "6x60",
  ...Object.fromEntries(counts.map((n, at) => [`posthaste_partitions_owned{group="g",instance="${at}"}`, `${n}x60`])),
});

function caseOf(alert: string, at: string, fires: Series, misses: Series | null): AlertCase {
  return { alert, at, fires, misses };
}

const P = "posthaste_";
export const ALERT_CASES: readonly AlertCase[] = [
  caseOf("PosthasteEventsRefused", "20m", calls(100, 2), calls(100, 1)),
  caseOf("PosthasteEventsRefusedSlow", "30m", calls(100, 1), calls(200, 1)),
  caseOf("PosthasteEventsRefusedBudget", "120m", calls(1000, 2), calls(1000, 1)),
  caseOf("PosthasteAttemptsLate", "20m", attempts(100, 98), attempts(100, 99)),
  caseOf("PosthasteAttemptsLateSlow", "30m", attempts(100, 99), attempts(200, 199)),
  caseOf("PosthasteAttemptsLateBudget", "120m", attempts(1000, 998), attempts(10_000, 9_991)),
  caseOf("PosthasteDeliveryBehind", "5m", one(`${P}consumer_lag_seconds{${partition}}`, "31x60"), {
    ...one(`${P}consumer_lag_seconds{${partition}}`, "500x60"),
    ...held,
  }),
  caseOf("PosthasteWaitsStuck", "8m", one(`${P}retry_overdue_seconds{${partition}}`, "601x60"), {
    ...one(`${P}retry_overdue_seconds{${partition}}`, "601x60"),
    ...held,
  }),
  caseOf("PosthasteCanaryLost", "10m", one(`${P}canary_lost_total`, "0x6 1x60"), {
    ...one(`${P}canary_lost_total`, "0x6 1x60"),
    ...held,
  }),
  caseOf("PosthasteCanaryStopped", "12m", canaries("5x60"), canaries("0x2 1x3 2x3 3x60")),
  caseOf(
    "PosthasteRecordNearRetention",
    "12m",
    { ...one(`${P}consumer_lag_seconds{${partition}}`, "302401x60"), ...held },
    one(`${P}consumer_lag_seconds{${partition}}`, "302399x60"),
  ),
  caseOf(
    "PosthasteServiceGone",
    "5m",
    builds("router", "delivery", "control"),
    builds("ingest", "router", "delivery", "control"),
  ),
  caseOf("PosthasteServiceNotReady", "8m", ready("0x60", "0x60"), ready("0x60", "1x60")),
  caseOf("PosthastePartitionUnowned", "5m", owned(3, 2), owned(3, 3)),
  caseOf(
    "PosthasteProducerStalled",
    "3m",
    one(`${P}producer_oldest_pending_seconds{class="ingest"}`, "16x60"),
    one(`${P}producer_oldest_pending_seconds{class="ingest"}`, "15x60"),
  ),
  caseOf("PosthasteOffsetOutsideLog", "4m", findings("losses", "fault"), findings("services", "fault")),
  caseOf(
    "PosthasteUnknownKey",
    "3m",
    one(`${P}destinations_unknown_key`, "1x60"),
    one(`${P}deferred_total{cause="window_full"}`, "0+1x60"),
  ),
  caseOf(
    "PosthasteSchemaUnknown",
    "3m",
    one(`${P}schema_wait_seconds{topic="t"}`, "61x60"),
    one(`${P}schema_wait_seconds{topic="t"}`, "60x60"),
  ),
  caseOf("PosthasteEgressLost", "102m", lost(20), lost(10)),
  caseOf(
    "PosthasteRecordsUnreadable",
    "10m",
    one(`${P}unreadable_records_total{topic="t",reason="not_framed"}`, "0x5 1x60"),
    one(`${P}unreadable_records_total{topic="t",reason="not_framed"}`, "1x60"),
  ),
  caseOf("PosthasteInstanceNotReady", "13m", ready("0x60", "1x60"), ready("1x5 0x60", "1x60")),
  caseOf("PosthasteRetriesLate", "15m", lateness(98), lateness(100)),
  caseOf(
    "PosthasteBrokerUnresponsive",
    "7m",
    one(`${P}broker_unresponsive{broker="1"}`, "1x60"),
    one(`${P}broker_unresponsive{broker="1"}`, "1x3 0x60"),
  ),
  caseOf(
    "PosthasteRebalancing",
    "12m",
    one(`${P}rebalances_total{group="g"}`, "0+1x60"),
    one(`${P}rebalances_total{group="g"}`, "0x2 4x60"),
  ),
  caseOf(
    "PosthasteCommitsFailing",
    "12m",
    one(`${P}commit_failures_total{group="g"}`, "0+10x60"),
    one(`${P}commit_failures_total{group="g"}`, "0+5x60"),
  ),
  caseOf(
    "PosthasteTableBehind",
    "3m",
    one(`${P}table_caught_up_timestamp_seconds{topic="t"}`, "0x60"),
    one(`${P}table_caught_up_timestamp_seconds{topic="t"}`, "0+60x60"),
  ),
  caseOf("PosthasteLogsDropped", "18m", dropped("0+1x60"), dropped("0+1x8 8x60")),
  caseOf(
    "PosthasteEventLoopSlow",
    "12m",
    one('nodejs_eventloop_lag_p99_seconds{job="posthaste"}', "0.2x60"),
    one('nodejs_eventloop_lag_p99_seconds{job="posthaste"}', "0.1x60"),
  ),
  caseOf("PosthasteMemoryNearLimit", "18m", memory(86), memory(85)),
  caseOf(
    "PosthasteClockOff",
    "8m",
    one(`${P}wall_clock_seconds`, "10+60x60"),
    one(`${P}wall_clock_seconds`, "4+60x60"),
  ),
  caseOf(
    "PosthasteMixedVersions",
    "130m",
    { ...builds("ingest"), 'posthaste_build_info{service="router",version="2"}': "1x200" },
    { ...builds("ingest"), 'posthaste_build_info{service="router",version="2"}': "1x60 _x100" },
  ),
  caseOf("PosthasteDoctorFinds", "18m", findings("tables", "fault"), findings("tables", "warning")),
  caseOf("PosthasteWatchdog", "1m", {}, null),
  caseOf("PosthasteDestinationFailing", "95m", ofDestination("d"), ofDestination("other")),
  caseOf(
    "PosthasteDestinationHoldsPartition",
    "18m",
    { ...one(`${P}consumer_lag_seconds{${partition}}`, "61x60"), ...held },
    { ...one(`${P}consumer_lag_seconds{${partition}}`, "60x60"), ...held },
  ),
  caseOf(
    "PosthasteWindowFull",
    "30m",
    one(`${P}deferred_total{cause="window_full"}`, "0+10x60"),
    one(`${P}deferred_total{cause="breaker_open"}`, "0+10x60"),
  ),
  caseOf("PosthasteBreakersOpenMany", "8m", breakers(5, 10), breakers(3, 6)),
  caseOf(
    "PosthasteDeadLetters",
    "25h",
    one(`${P}dead_letters_total{reason="window_expired"}`, "0x1400 0+2x200"),
    one(`${P}dead_letters_total{reason="window_expired"}`, "0+2x1600"),
  ),
  caseOf(
    "PosthasteAddressesRefused",
    "10m",
    one(`${P}dead_letters_total{reason="address_refused"}`, "0x5 1x60"),
    one(`${P}dead_letters_total{reason="window_expired"}`, "0x5 1x60"),
  ),
  ...[
    ["KafkaOfflinePartitions", "kafka_controller_kafkacontroller_offlinepartitionscount", "3m"],
    ["KafkaUnderMinIsr", "kafka_server_replicamanager_underminisrpartitioncount", "3m"],
    ["KafkaLogDirOffline", "kafka_log_logmanager_offlinelogdirectorycount", "3m"],
  ].map(([alert = "", series = "", at = ""]) => caseOf(alert, at, one(series, "1x60"), one(series, "0x60"))),
  caseOf("KafkaControllers", "4m", controllers(1, 1), controllers(1, 0)),
  caseOf("KafkaDiskFilling", "15m", disk(14), disk(15)),
  caseOf(
    "KafkaUnderReplicated",
    "12m",
    one("kafka_server_replicamanager_underreplicatedpartitions", "1x60"),
    one("kafka_server_replicamanager_underreplicatedpartitions", "1x5 0x60"),
  ),
  caseOf("KafkaMetricsGone", "12m", told("controller_kafkacontroller_activecontrollercount"), told()),
];
