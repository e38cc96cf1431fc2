/**
 * A rolling restart under load: two instances of each service, each of the eight ended by SIGTERM and started again,
 * one after the other in the order of docs/operating.md, at 500 events a second. Nothing that was answered 200 is lost,
 * an instance says that it is ready only once its tables are read, and no alert fires. Times are told and not judged.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePorts } from "@posthaste/local-stack/ports";
import { SERVICE_NAMES, type ServiceName } from "@posthaste/local-stack/services";
import { PROMETHEUS, provideProgram } from "@posthaste/testkit/debian-program";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Installation, startInstallation } from "../e2e/installation.ts";
import { type Prometheus, startPrometheus } from "../e2e/prometheus.ts";
import { createRoute, type Route } from "../e2e/route.ts";
import { quantile } from "../load/figures/statistics.ts";
import { type ApartReceiver, startApartReceiver } from "./apart-receiver.ts";
import { createArrivals } from "./arrivals.ts";
import { pause } from "./pause.ts";
import { type Replacement, type RolledInstance, replace } from "./rolled-instance.ts";
import { type Cell, printWithLoad, toTable } from "./table.ts";
import { startTwoGatesLoad } from "./two-gates.ts";

const EVENTS_PER_SECOND = 500;
/** Destinations without events, so that there is something to read before an instance is ready. */
const DESTINATIONS = 300;
/** The load before the first restart and after the last one. */
const AROUND_MS = 15_000;
/** The time between two restarts. */
const BETWEEN_MS = 3_000;
const ORDER: readonly ServiceName[] = ["control", "delivery", "router", "ingest"];

const prometheus = await provideProgram(PROMETHEUS, process.env);
if ("missing" in prometheus) process.stdout.write(`no alert is looked at: ${prometheus.missing}\n`);

let installation: Installation;
let receiver: ApartReceiver;
let route: Route;
let ingestUrls: readonly string[];
let instances: readonly RolledInstance[];
let watching: Prometheus | undefined;
let folder: string;

beforeAll(async () => {
  [installation, receiver] = await Promise.all([startInstallation(), startApartReceiver()]);
  folder = await mkdtemp(join(tmpdir(), "posthaste-rolling-"));
  const { system, control } = installation;
  const [ingestPort = 0, controlPort = 0, ...adminPorts] = await findFreePorts(2 + SERVICE_NAMES.length);
  const first = SERVICE_NAMES.map((service) => ({
    ...{ service, process: system.process(service), metricsUrl: system.metricsUrls[service] },
  }));
  const second = SERVICE_NAMES.map((service, index) => {
    const adminPort = adminPorts[index] ?? 0;
    const process = system.another(service, { adminPort, controlPort, ingestPort, dataDir: folder });
    return { service, process, metricsUrl: `http://127.0.0.1:${adminPort}/metrics` };
  });
  instances = [...first, ...second];
  ingestUrls = [system.ingestUrl, `http://127.0.0.1:${ingestPort}`];
  const sharedSecret = "a-secret-of-32-characters-length";
  for (let made = 0; made < DESTINATIONS; made += 1) {
    await control.createDestination({
      name: `idle ${made}`,
      sourceIds: [],
      urls: ["http://127.0.0.1:9/"],
      sharedSecret,
    });
  }
  route = await createRoute(installation, receiver, "/rolling");
  await Promise.all(second.map(({ process }) => process.start()));
  if ("missing" in prometheus) return;
  const targets = instances.map(({ service, metricsUrl }) => [service, metricsUrl] as const);
  const ruleFiles = ["rules.yml", "alerts.yml"];
  watching = await startPrometheus({ path: prometheus.path, targets, ruleFiles });
}, 300_000);

afterAll(async () => {
  await watching?.close();
  await Promise.all(instances.slice(SERVICE_NAMES.length).map(({ process }) => process.stop()));
  await installation.close();
  await receiver.close();
  await rm(folder, { recursive: true, force: true });
});

it("loses nothing, is ready only with its tables, and wakes nobody", async () => {
  const arrivals = createArrivals();
  const arrivedAtMs = new Map<string, number>();
  receiver.tell((arrival) => {
    arrivals.note(arrival);
    if (!arrivedAtMs.has(arrival.messageId)) arrivedAtMs.set(arrival.messageId, arrival.atMs);
  });
  const load = startTwoGatesLoad({ urls: ingestUrls, writeKey: route.writeKey, eventsPerSecond: EVENTS_PER_SECOND });
  const phases: [name: string, fromMs: number][] = [["before", performance.now()]];
  await pause(AROUND_MS);
  const replaced: Replacement[] = [];
  for (const service of ORDER) {
    phases.push([service, performance.now()]);
    for (const instance of instances.filter((each) => each.service === service)) {
      replaced.push(await replace(instance));
      await pause(BETWEEN_MS);
    }
  }
  phases.push(["after", performance.now()]);
  await pause(AROUND_MS);
  await load.stop();
  const lost = () => [...load.sentAtMs.keys()].filter((id) => !arrivals.has(id));
  await eventually(() => expect(lost()).toEqual([]), { timeoutMs: 120_000, intervalMs: 500 }).catch(() => undefined);

  const delays = [...load.sentAtMs].map(
    ([id, sentMs]) => [sentMs, (arrivedAtMs.get(id) ?? Infinity) - sentMs] as const,
  );
  printWithLoad(
    [
      toTable(
        ["phase", "events", "p50", "p99", "most"],
        phases.map(([name, from], index) => {
          const until = phases[index + 1]?.[1] ?? Infinity;
          return [
            name,
            ...told(delays.flatMap(([sentMs, delayMs]) => (sentMs >= from && sentMs < until ? [delayMs] : []))),
          ];
        }),
      ),
      toTable(
        ["replaced", "stopped in", "ready in"],
        replaced.map(({ service, stopMs, readyMs }) => [service, ms(stopMs), ms(readyMs)]),
      ),
      `acknowledged ${load.sentAtMs.size}, lost ${lost().length}, repeated ${arrivals.repeated()}, late ${arrivals.late.size}, batches sent again ${load.again()}`,
    ].join("\n\n"),
  );
  expect.soft(lost().length).toBe(0);
  expect.soft(load.refused()).toBe(0);
  expect.soft(installation.unexpectedExits).toEqual([]);
  const { destinationConfig, sourceConfig } = installation.names;
  for (const { service, tables } of replaced) {
    const behind = Object.entries(tables).filter(([sample, value]) => sample.startsWith("table_behind") && value > 0);
    const [topic, least] = service === "ingest" ? [sourceConfig, 1] : [destinationConfig, DESTINATIONS + 1];
    const held = tables[`table_records{topic="${topic}"}`] ?? 0;
    expect.soft([service, behind, held >= least]).toEqual([service, [], true]);
  }
  if (watching === undefined) return;
  // The watchdog fires always: the rules were looked at.
  expect.soft(await firedAlerts(watching)).toEqual(["PosthasteWatchdog"]);
  expect.soft(await watching.query("max_over_time(up[1h]) == 1")).toHaveLength(instances.length);
}, 600_000);

/** The alerts that fired at any time. */
async function firedAlerts({ query }: Prometheus): Promise<readonly string[]> {
  const series = await query(`max_over_time(ALERTS{alertstate="firing"}[1h])`);
  return series.map(({ metric }) => metric["alertname"] ?? "");
}

function told(delays: readonly number[]): readonly Cell[] {
  return [delays.length, ...[0.5, 0.99, 1].map((share) => ms(quantile(delays, share)))];
}

function ms(value: number): string {
  return `${Math.round(value)} ms`;
}
