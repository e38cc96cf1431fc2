/**
 * A broker of three dies, stops or hangs under load, then two at once: nothing acknowledged is lost, nobody gives up.
 *
 * In `npm test` each row runs once, with hangs of 6 s; with POSTHASTE_LONG_FAULTS (`npm run test:faults -- brokers`) ten times,
 * with hangs of 20 s, round after round. The table of what was seen is printed at the end. Times are told, not judged: they
 * are the machine's.
 */
import { createClusterView } from "@posthaste/local-stack/cluster-view";
import { eventually } from "@posthaste/testkit/eventually";
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Installation, startInstallation } from "../e2e/installation.ts";
import { createRoute, type Route } from "../e2e/route.ts";
import { createArrivals } from "./arrivals.ts";
import { brokersOf, type Cluster, FAULTS, inflict, ROLES, type Row, untilMoved } from "./broker-faults.ts";
import { type BrokerRound, toBrokerLine, toBrokerTable } from "./broker-table.ts";
import { watchCommits } from "./commits.ts";
import { isLong, longRounds } from "./form.ts";
import { startLoad } from "./load.ts";
import { pause } from "./pause.ts";
import { printWithLoad } from "./table.ts";

const ROUNDS = isLong ? longRounds(10) : 1;
const EVENTS_PER_SECOND = isLong ? 500 : 100;
const HUNG_MS = isLong ? 20_000 : 6_000;
/** How long a killed or stopped broker stays down: long enough for the cluster to go on without it. */
const DOWN_MS = isLong ? 6_000 : 4_000;
const TWO_DOWN_MS = isLong ? 10_000 : 4_000;
/** How long the load runs on when all brokers are back. */
const AFTER_MS = isLong ? 4_000 : 1_000;
const SERVICES = ["ingest", "router", "delivery", "control"];

const ROWS: readonly Row[] = [
  ...ROLES.flatMap((role) =>
    FAULTS.map((fault): Row => ({ role, fault, forMs: fault === "hung" ? HUNG_MS : DOWN_MS })),
  ),
  { role: "two brokers of three", fault: "killed", forMs: TWO_DOWN_MS },
];
const CASES = Array.from({ length: ROUNDS }, (_, index) => ROWS.map((row) => ({ ...row, round: index + 1 }))).flat();

let installation: Installation;
let receiver: Receiver;
let cluster: Cluster;
let route: Route;
const seen: BrokerRound[] = [];

beforeAll(async () => {
  [installation, receiver] = await Promise.all([startInstallation({ brokers: 3 }), startReceiver()]);
  const { system, names } = installation;
  cluster = { system, names, view: createClusterView(system.stack) };
  route = await createRoute(installation, receiver, "/brokers");
}, 180_000);

afterAll(async () => {
  await installation.close();
  await receiver.close();
  printWithLoad(toBrokerTable(seen));
}, 60_000);

it.each(CASES)(
  "round $round: $role, $fault for $forMs ms: nothing is lost, order is kept, no service ends",
  async ({ round, ...row }) => {
    const { system, names } = installation;
    const pids = SERVICES.map((service) => system.unit(service).pid);
    const name = `${ROWS.findIndex(({ role, fault }) => role === row.role && fault === row.fault)}-${round}`;
    const arrivals = createArrivals({ only: `${name}/` });
    receiver.clear();
    receiver.script(route.path, (request) => {
      arrivals.record(request);
      return {};
    });
    const { ingestUrl } = system;
    const load = startLoad({ ingestUrl, writeKey: route.writeKey, eventsPerSecond: EVENTS_PER_SECOND, name });
    const watch = watchCommits(cluster.view, names.deliveryGroup);
    await eventually(() => expect(arrivals.deliveries.count()).toBeGreaterThan(EVENTS_PER_SECOND), {
      timeoutMs: 20_000,
    });

    const victims = await brokersOf(row, cluster);
    const fromMs = performance.now();
    const [movedMs] = await Promise.all([
      untilMoved(row, victims[0]?.name ?? "", cluster, row.forMs),
      inflict(row, victims),
    ]);
    await pause(AFTER_MS);
    const toMs = performance.now();
    await Promise.all([load.stop(), watch.stop()]);
    const lost = (): string[] => [...load.acknowledged].filter((messageId) => !arrivals.has(messageId));
    await eventually(() => expect(lost()).toEqual([]), { timeoutMs: 60_000, intervalMs: 100 }).catch(() => {});

    const result: BrokerRound = {
      row,
      movedMs,
      acknowledgementGapMs: load.acknowledgements.longestGapMs(fromMs, toMs),
      deliveryGapMs: arrivals.deliveries.longestGapMs(fromMs, toMs),
      commitGapMs: watch.commits.longestGapMs(fromMs, toMs),
      refused: load.refused(),
      acknowledged: load.acknowledged.size,
      delivered: arrivals.delivered(),
      lost: lost().length,
      repeated: arrivals.repeated(),
      disordered: arrivals.disordered(),
    };
    seen.push(result);
    if (isLong) process.stdout.write(`${toBrokerLine(result)}\n`);
    expect(load.acknowledged.size).toBeGreaterThan(EVENTS_PER_SECOND);
    expect(lost()).toEqual([]);
    expect(arrivals.disordered()).toBe(0);
    expect(SERVICES.map((service) => system.unit(service).pid)).toEqual(pids);
    expect(installation.unexpectedExits).toEqual([]);
  },
  180_000,
);
