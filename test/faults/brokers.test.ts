/**
 * A broker of three dies, stops or hangs under load, then two at once: nothing acknowledged is lost, nobody gives up.
 *
 * With POSTHASTE_LONG (`npm run test:long -- test/faults/brokers`) each of ten rows runs ten times, with hangs of 20 s,
 * round after round: some 40 minutes. In `npm test` two of the rows run once, with hangs of 6 s. Bare kafkajs meets the
 * same faults beside the system in the long form. Events that come again or late must have their reason: an attempt
 * that failed or a deferral, as the attempt log says, or for a repeat that a group took a partition away. Each round is
 * printed when it ends, the tables of all rounds after each ten rows and at the end; a file has them after each round,
 * for a run that is ended early. Times are told, not judged: they are the machine's.
 */
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClusterView } from "@posthaste/local-stack/cluster-view";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { type Installation, startInstallation } from "../e2e/installation.ts";
import { createRoute } from "../e2e/route.ts";
import { type ApartReceiver, startApartReceiver } from "./apart-receiver.ts";
import { FAULTS, mend, ROLES, type Row } from "./broker-faults.ts";
import { runRound, type Stage } from "./broker-round.ts";
import { type BrokerRound, toBrokerLine, toBrokerTables } from "./broker-table.ts";
import { isLong, longRounds } from "./form.ts";
import { printWithLoad } from "./table.ts";

const ROUNDS = isLong ? longRounds(10) : 1;
const EVENTS_PER_SECOND = isLong ? 500 : 100;
/** Gaps are told to a tenth of a second in the long form, and in the short one not at all. */
const BATCHES_PER_SECOND = isLong ? 10 : 4;
const HUNG_MS = isLong ? 20_000 : 6_000;
/** How long a broker stays down: a killed one long enough for the cluster to go on without it, whatever its roles. */
const KILLED_MS = isLong ? 10_000 : 4_000;
const STOPPED_MS = isLong ? 6_000 : 2_000;
const FAULT_MS = { killed: KILLED_MS, stopped: STOPPED_MS, hung: HUNG_MS } as const;
/** How long the load runs on when all brokers are back. */
const AFTER_MS = isLong ? 4_000 : 1_000;
/** How often the cluster is asked how it does: for tables that are to tell tenths of a second, or for none. */
const POLL_MS = isLong ? 100 : 500;
/** The long form's tables so far. */
const TABLES = join(tmpdir(), `posthaste-fault-tables-${process.pid}.md`);
/**
 * Where the brokers were away for as long, no commit may have been possible for a minute: then every service that
 * commits ends, to be started again (C7).
 */
const STALL_MS = 50_000;
const SERVICES = ["ingest", "router", "delivery", "control"];

const ALL_ROWS: readonly Row[] = [
  ...ROLES.flatMap((role) => FAULTS.map((fault): Row => ({ role, fault, forMs: FAULT_MS[fault] }))),
  { role: "two brokers of three", fault: "killed", forMs: KILLED_MS },
];
/**
 * The faults of the short form. A broker that hangs answers nobody, and nobody hears of it: the coordinator leads
 * partitions too, so that producers, readers and groups all have to notice by themselves. A leader that is killed
 * refuses connections, and its partitions have another leader.
 */
const SHORT_FAULTS: Readonly<Partial<Record<Row["role"], Row["fault"]>>> = {
  "leader of a deliveries partition": "killed",
  "coordinator of the delivery group": "hung",
};
/** Fewer partitions in the short form: each broker leads some, and each costs three brokers. */
const SETTINGS = isLong ? {} : { POSTHASTE_PARTITIONS: "3", POSTHASTE_RETRY_SCHEDULE: "1s,5s,30s" };
const ROWS = isLong ? ALL_ROWS : ALL_ROWS.filter(({ role, fault }) => SHORT_FAULTS[role] === fault);
const CASES = Array.from({ length: ROUNDS }, (_, index) => ROWS.map((row) => ({ ...row, round: index + 1 }))).flat();

let installation: Installation;
let receiver: ApartReceiver;
let stage: Stage;
const seen: BrokerRound[] = [];

beforeAll(async () => {
  if (isLong) process.stdout.write(`the tables so far: ${TABLES}\n`);
  [installation, receiver] = await Promise.all([
    startInstallation({ brokers: 3, settings: SETTINGS }),
    startApartReceiver(),
  ]);
  const { system, names } = installation;
  stage = {
    cluster: { system, names, view: createClusterView(system.stack) },
    receiver,
    route: await createRoute(installation, receiver, "/brokers"),
    services: SERVICES,
    eventsPerSecond: EVENTS_PER_SECOND,
    batchesPerSecond: BATCHES_PER_SECOND,
    afterMs: AFTER_MS,
    pollMs: POLL_MS,
  };
});

afterEach(() => mend(stage.cluster), 120_000);

afterAll(async () => {
  printWithLoad(toBrokerTables(seen));
  await installation.close();
  await receiver.close();
});

it.each(CASES)(
  "round $round: $role, $fault for $forMs ms: nothing is lost, order is kept, no service ends",
  async ({ round: number, ...row }) => {
    const { system } = installation;
    const pids = () => SERVICES.map((service) => system.process(service).pid);
    const before = pids();
    const exitsBefore = installation.unexpectedExits.length;
    const kind = ROWS.findIndex(({ role, fault }) => role === row.role && fault === row.fault);
    const { round, remarks } = await runRound(stage, row, {
      name: `${kind}-${number}`,
      besideBare: isLong,
    });
    seen.push(round);
    await tell(round, remarks);
    expect(round.acknowledged).toBeGreaterThan(EVENTS_PER_SECOND);
    expect(round.lost).toBe(0);
    expect(round.disordered).toBe(0);
    if (round.regained === 0) expect(round.repeated).toBe(0);
    if ((round.replacedMs ?? 0) >= STALL_MS) return;
    expect(pids()).toEqual(before);
    expect(installation.unexpectedExits.slice(exitsBefore)).toEqual([]);
  },
  600_000,
);

async function tell(round: BrokerRound, remarks: readonly string[]): Promise<void> {
  if (!isLong) {
    for (const remark of remarks) printWithLoad(remark);
    return;
  }
  process.stdout.write(`${[toBrokerLine(round), ...remarks].join("\n")}\n`);
  const tables = toBrokerTables(seen);
  await writeFile(TABLES, `${tables}\n`);
  if (seen.length % ROWS.length === 0) printWithLoad(tables);
}
