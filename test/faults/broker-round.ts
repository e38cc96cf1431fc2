/**
 * One round of a row: the system under load, where it is asked for bare kafkajs beside it, the fault, and its effect on
 * both.
 *
 * - A round begins when every partition has all of its replicas in sync, so that it shows its own fault alone.
 * - The processes that it started are ended with it, however it ends; the brokers are the caller's to mend.
 * RO3  A service that ended is started again before the events are waited for, as where it is installed: so an event
 *      that counts as lost is lost, and does not only wait for a process that is gone.
 */
import { eventually } from "@posthaste/testkit/eventually";
import type { Route } from "../e2e/route.ts";
import type { ApartReceiver } from "./apart-receiver.ts";
import { type Arrivals, createArrivals } from "./arrivals.ts";
import { type Bare, startBare } from "./bare.ts";
import {
  brokersOf,
  type Cluster,
  inflict,
  mend,
  type Row,
  rolesOf,
  untilReplaced,
  untilWhole,
} from "./broker-faults.ts";
import type { BareRound, BrokerRound } from "./broker-table.ts";
import { type CommitWatch, watchCommits } from "./commits.ts";
import { type ExplainedArrivals, explainArrivals } from "./explained-arrivals.ts";
import { type Load, startLoad } from "./load.ts";
import { pause } from "./pause.ts";
import { aboutCommits, countRegained, firstNoticeMs, readServiceLogs } from "./service-logs.ts";
import type { Gap, Timeline } from "./timeline.ts";

/** How long a busy machine may take: a request that timed out on it comes back from a retry topic. */
const START = { timeoutMs: 60_000 };
const ARRIVAL = { timeoutMs: 180_000, intervalMs: 100 };
/**
 * Of the longest gap in commits beyond the gap in deliveries, after which the round prints the services' state of their
 * groups.
 */
const ODD_COMMITS_MS = 3_000;

export interface Stage {
  readonly cluster: Cluster;
  readonly receiver: ApartReceiver;
  readonly route: Route;
  readonly services: readonly string[];
  readonly eventsPerSecond: number;
  readonly batchesPerSecond: number;
  /** How often the cluster is asked for commits and for the successor of a broker: each question costs the brokers. */
  readonly pollMs: number;
  /** How long the load runs on when all brokers are back. */
  readonly afterMs: number;
}

export interface RoundResult {
  readonly round: BrokerRound;
  /** Lines of the services' logs that explain odd numbers of the round. */
  readonly remarks: readonly string[];
}

/** The parts that run while the fault does. */
interface Running {
  readonly load: Load;
  readonly arrivals: Arrivals;
  readonly watch: CommitWatch;
  readonly bare: Bare | null;
}

/** Of one round: the prefix of its events' ids, and whether bare kafkajs runs beside the system. */
export interface RoundOptions {
  readonly name: string;
  readonly besideBare: boolean;
}

/** Runs a round. Rejects when it cannot be begun or its brokers do not come back. */
export async function runRound(stage: Stage, row: Row, options: RoundOptions): Promise<RoundResult> {
  const { cluster, services, pollMs } = stage;
  await untilWhole(cluster);
  const running = await startRunning(stage, options);
  try {
    const victims = await brokersOf(row, cluster);
    const roles = await rolesOf(victims, cluster);
    const [fromMs, fromEpochMs] = [performance.now(), Date.now()];
    const [one, another] = victims;
    const [withoutMs, backMs] = await Promise.all([
      one && another === undefined ? untilReplaced(one.name, cluster, { timeoutMs: row.forMs, pollMs }) : null,
      inflict(row, victims).then(() => performance.now() - fromMs),
    ]);
    const replacedMs = another === undefined ? withoutMs : backMs;
    await pause(stage.afterMs);
    const toMs = performance.now();
    await stop(running);
    // RO3.
    await mend(cluster);
    await untilArrived(running);
    const logs = await readServiceLogs(
      services.map((service) => cluster.system.process(service)),
      fromEpochMs,
    );
    const noticedAtMs = firstNoticeMs(logs);
    const noticedMs = noticedAtMs === null ? null : noticedAtMs - fromEpochMs;
    const explained = await explainArrivals(running.arrivals, cluster.system.stack, cluster.names);
    const { repeated, disordered, retried } = explained;
    const counts = { repeated, disordered, retried, regained: countRegained(logs) };
    const round = { row, roles, noticedMs, replacedMs, ...counts, ...measure(running, fromMs, toMs) };
    const oddMs = lengthOf(round.commits) - lengthOf(round.deliveries);
    const commits = oddMs > ODD_COMMITS_MS ? aboutCommits(logs) : [];
    return { round, remarks: [...commits, ...aboutRetries(explained)] };
  } finally {
    await stop(running);
  }
}

async function startRunning(stage: Stage, { name, besideBare }: RoundOptions): Promise<Running> {
  const { cluster, receiver, route, eventsPerSecond, batchesPerSecond, pollMs } = stage;
  const arrivals = createArrivals({ only: `${name}/` });
  receiver.tell(arrivals.note);
  const bare = besideBare ? await startBare(cluster) : null;
  const { ingestUrl } = cluster.system;
  const load = startLoad({ ingestUrl, writeKey: route.writeKey, eventsPerSecond, batchesPerSecond, name });
  const watch = watchCommits(cluster.view, { groupId: cluster.names.deliveryGroup, pollMs });
  const running = { load, arrivals, watch, bare };
  try {
    await untilAbove(arrivals.deliveries, eventsPerSecond);
    // Bare kafkajs need not have come that far: its gap says so then.
    if (bare) await untilAbove(bare.consumption, 0).catch(() => {});
    return running;
  } catch (error) {
    await stop(running);
    throw error;
  }
}

function untilAbove(timeline: Timeline, count: number): Promise<void> {
  return eventually(() => {
    if (timeline.count() <= count) throw new Error(`${timeline.count()} came, and more than ${count} should`);
  }, START);
}

/** Ends the senders and the watchers; a second time is no error. */
async function stop({ load, watch, bare }: Running): Promise<void> {
  await Promise.all([load.stop(), watch.stop(), bare?.stop()]);
}

/** Until every acknowledged event has arrived, or for as long as that may take. */
async function untilArrived(running: Running): Promise<void> {
  await eventually(() => {
    if (countLost(running) > 0) throw new Error("not all have arrived");
  }, ARRIVAL).catch(() => {});
}

function countLost({ load, arrivals }: Running): number {
  return [...load.acknowledged].filter((messageId) => !arrivals.has(messageId)).length;
}

function measure(
  running: Running,
  fromMs: number,
  toMs: number,
): Pick<
  BrokerRound,
  "acknowledgements" | "deliveries" | "commits" | "refused" | "acknowledged" | "delivered" | "lost" | "bare"
> {
  const { load, arrivals, watch, bare } = running;
  const gapOf = (timeline: Timeline): Gap => {
    const gap = timeline.longestGap(fromMs, toMs);
    return { fromMs: gap.fromMs - fromMs, toMs: gap.toMs - fromMs };
  };
  const bareRound: BareRound | null = bare && {
    acknowledgements: gapOf(bare.acknowledgements),
    consumption: gapOf(bare.consumption),
    refused: bare.refused(),
    crashes: bare.crashes(),
  };
  return {
    acknowledgements: gapOf(load.acknowledgements),
    deliveries: gapOf(arrivals.deliveries),
    commits: gapOf(watch.commits),
    refused: load.refused(),
    acknowledged: load.acknowledged.size,
    delivered: arrivals.delivered(),
    lost: countLost(running),
    bare: bareRound,
  };
}

/** Why events came again or late: the failures, and the number of each. */
function aboutRetries({ reasons }: ExplainedArrivals): readonly string[] {
  return [...reasons].map(([reason, times]) => `events that came again or late: ${reason}, ${times} times`);
}

function lengthOf({ fromMs, toMs }: Gap): number {
  return toMs - fromMs;
}
