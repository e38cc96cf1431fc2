/**
 * A broker of three dies, stops or hangs under load: nothing acknowledged is lost, and the gaps stay within seconds.
 *
 * Each row is a role in the cluster and what is done to the broker that has it. In `npm test` three rows run once, with
 * hangs of 6 s; with POSTHASTE_LONG_FAULTS (`npm run test:faults -- brokers`) all rows run ten times, with hangs of 20 s. The
 * table is printed at the end.
 */
import { type ClusterView, createClusterView } from "@posthaste/local-stack/cluster-view";
import type { Unit } from "@posthaste/local-stack/unit";
import { eventually } from "@posthaste/testkit/eventually";
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Installation, startInstallation } from "../e2e/installation.ts";
import { createRoute } from "../e2e/route.ts";
import { createArrivals } from "./arrivals.ts";
import { watchCommits } from "./commits.ts";
import { startLoad } from "./load.ts";
import { median } from "./timeline.ts";

const isLong = process.env["POSTHASTE_LONG_FAULTS"] === "true";
const ROUNDS = isLong ? 10 : 1;
const EVENTS_PER_SECOND = isLong ? 500 : 100;
const HANG_MS = isLong ? 20_000 : 6_000;
/** How long a killed or stopped broker stays down. */
const DOWN_MS = isLong ? 8_000 : 3_000;
const BEFORE_MS = 2_000;
const AFTER_MS = isLong ? 10_000 : 5_000;
const SERVICES = ["ingest", "router", "delivery", "control"];
const NONE_OVER_MS = 15_000;

const ROLES = ["leader of a deliveries partition", "coordinator of the delivery group", "active controller"] as const;
type Role = (typeof ROLES)[number];
const FAULTS = ["killed", "stopped", "hung"] as const;
type Fault = (typeof FAULTS)[number];

const allRows = ROLES.flatMap((role) => FAULTS.map((fault): [Role, Fault] => [role, fault]));
const shortRows: [Role, Fault][] = [
  ["leader of a deliveries partition", "killed"],
  ["coordinator of the delivery group", "hung"],
  ["active controller", "stopped"],
];

interface Round {
  readonly acknowledgementGapMs: number;
  readonly deliveryGapMs: number;
  readonly commitGapMs: number;
  readonly refused: number;
  readonly acknowledged: number;
  readonly repeated: number;
}

let installation: Installation;
let receiver: Receiver;
let view: ClusterView;
const table: string[] = [];

beforeAll(async () => {
  [installation, receiver] = await Promise.all([startInstallation({ brokers: 3 }), startReceiver()]);
  view = createClusterView(installation.system.stack);
}, 180_000);

afterAll(async () => {
  await installation.close();
  await receiver.close();
  process.stdout.write(`\n${TABLE_HEAD}\n${table.join("\n")}\n`);
  expect(installation.unexpectedExits).toEqual([]);
}, 60_000);

async function brokerWith(role: Role): Promise<Unit> {
  const { names } = installation;
  const name = await eventually(async () => {
    switch (role) {
      case "leader of a deliveries partition":
        return view.leaderOf(names.deliveries, 0);
      case "coordinator of the delivery group":
        return view.coordinatorOf(names.deliveryGroup);
      case "active controller":
        return view.activeController();
    }
  });
  return installation.system.unit(name ?? "nobody");
}

async function inflict(fault: Fault, broker: Unit): Promise<void> {
  switch (fault) {
    case "killed":
      await broker.kill();
      await pause(DOWN_MS);
      return broker.start();
    case "stopped":
      await broker.stop();
      await pause(DOWN_MS);
      return broker.start();
    case "hung":
      await broker.hang();
      await pause(HANG_MS);
      return broker.resume();
  }
}

async function runRound(role: Role, fault: Fault, name: string): Promise<Round> {
  const arrivals = createArrivals();
  const { system, names } = installation;
  const path = `/${name}`;
  const route = await createRoute(installation, receiver, path);
  receiver.script(path, (request) => {
    arrivals.record(request);
    return {};
  });
  const pids = SERVICES.map((service) => system.unit(service).pid);
  const load = startLoad({
    ingestUrl: system.ingestUrl,
    writeKey: route.writeKey,
    eventsPerSecond: EVENTS_PER_SECOND,
    name,
  });
  const watch = watchCommits(system.stack.brokers, names.deliveryGroup, names.deliveries);
  await eventually(() => expect(arrivals.deliveries.count()).toBeGreaterThan(0), { timeoutMs: 20_000 });
  await pause(BEFORE_MS);
  const fromMs = performance.now();
  await inflict(fault, await brokerWith(role));
  await pause(AFTER_MS);
  const toMs = performance.now();
  await load.stop();
  await eventually(
    () => {
      const lost = [...load.acknowledged].filter((messageId) => !arrivals.has(messageId));
      expect(lost).toEqual([]);
    },
    { timeoutMs: 60_000, intervalMs: 200 },
  );
  await watch.stop();
  expect(arrivals.disordered()).toBe(0);
  expect(SERVICES.map((service) => system.unit(service).pid)).toEqual(pids);
  return {
    acknowledgementGapMs: load.acknowledgements.longestGapMs(fromMs, toMs),
    deliveryGapMs: arrivals.deliveries.longestGapMs(fromMs, toMs),
    commitGapMs: watch.commits.longestGapMs(fromMs, toMs),
    refused: load.refused(),
    acknowledged: load.acknowledged.size,
    repeated: arrivals.repeated(),
  };
}

it.each(isLong ? allRows : shortRows)(
  "the %s is %s: nothing is lost, order is kept, no service ends",
  async (role, fault) => {
    const rounds: Round[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      rounds.push(await runRound(role, fault, `${role.split(" ")[0]}-${fault}-${round}`));
    }
    table.push(toTableRow(role, fault, rounds));
    for (const round of rounds) {
      expect(round.acknowledged).toBeGreaterThan(EVENTS_PER_SECOND);
      expect(round.acknowledgementGapMs).toBeLessThan(NONE_OVER_MS);
      expect(round.deliveryGapMs).toBeLessThan(NONE_OVER_MS);
    }
  },
  isLong ? 30 * 60_000 : 120_000,
);

const TABLE_HEAD = [
  "| role | fault | acknowledgements ms, median (max) | deliveries | commits | refused | acknowledged | lost | repeated |",
  "|---|---|---|---|---|---|---|---|---|",
].join("\n");

function toTableRow(role: Role, fault: Fault, rounds: readonly Round[]): string {
  const gap = (pick: (round: Round) => number): string => {
    const values = rounds.map((round) => Math.round(pick(round)));
    return `${median(values)} (${Math.max(...values)})`;
  };
  const sum = (pick: (round: Round) => number): number => rounds.reduce((total, round) => total + pick(round), 0);
  const cells = [
    role,
    fault,
    gap((round) => round.acknowledgementGapMs),
    gap((round) => round.deliveryGapMs),
    gap((round) => round.commitGapMs),
    sum((round) => round.refused),
    sum((round) => round.acknowledged),
    // A round with a lost event fails before it comes here.
    0,
    sum((round) => round.repeated),
  ];
  return `| ${cells.join(" | ")} |`;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
