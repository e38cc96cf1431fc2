/**
 * Every expression of the dashboards and the recorded ratios, asked of a real Prometheus that scrapes an installation
 * under load: a misspelt label or an empty selection answers with no series, which no parser notices.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findFreePorts } from "@posthaste/local-stack/ports";
import { PROMETHEUS, provideProgram } from "@posthaste/testkit/debian-program";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DASHBOARDS } from "../checks/dashboards/dashboards.ts";
import { sendBatch } from "./calls.ts";
import { drawDashboards } from "./draw-dashboards.ts";
import { createRoute, type Route } from "./route.ts";
import { installation, receiver, useInstallation } from "./use-installation.ts";

const RULES = fileURLToPath(new URL("../../deploy/prometheus/rules.yml", import.meta.url));
const prometheus = await provideProgram(PROMETHEUS, process.env);
const why = "missing" in prometheus ? prometheus.missing : "";
/** The brokers of a test have no exporter; a destination holds no partition beside others. */
const ELSEWHERE = /kafka_|posthaste:kafka_disk/;

useInstallation();

let server: ChildProcess | undefined;
let folder: string;
let url: string;
let good: Route;
let isOver = false;
let load: Promise<void>;

/** Twenty events a second for two destinations, one of which refuses each third request. */
async function keepSending(writeKeys: readonly string[]): Promise<void> {
  for (let round = 0; !isOver; round += 1) {
    for (const writeKey of writeKeys) {
      const events = Array.from({ length: 10 }, (_, n) => ({
        ...{ type: "track" as const, userId: `user-${n}`, event: "Ordered", messageId: `${writeKey}-${round}-${n}` },
      }));
      await sendBatch(installation.system.ingestUrl, writeKey, events);
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

beforeAll(async () => {
  if ("missing" in prometheus) return;
  folder = await mkdtemp(join(tmpdir(), "posthaste-prometheus-"));
  await mkdir(join(folder, "data"));
  const targets = Object.entries(installation.system.metricsUrls).map(([service, metrics]) => ({
    ...{ targets: [new URL(metrics).host], labels: { service } },
  }));
  const config = {
    global: { scrape_interval: "1s", evaluation_interval: "1s" },
    rule_files: [RULES],
    scrape_configs: [{ job_name: "posthaste", honor_labels: true, static_configs: targets }],
  };
  await writeFile(join(folder, "prometheus.yml"), JSON.stringify(config));
  const [port = 0] = await findFreePorts(1);
  url = `http://127.0.0.1:${port}`;
  const words = ["config.file=prometheus.yml", "storage.tsdb.path=data", `web.listen-address=127.0.0.1:${port}`];
  server = spawn(prometheus.path, [...words.map((word) => `--${word}`), "--log.level=error"], {
    cwd: folder,
    stdio: "ignore",
  });
  good = await createRoute(installation, receiver, "/good");
  const bad = await createRoute(installation, receiver, "/bad");
  const answers = [200, 400, 500];
  receiver.script(bad.path, () => {
    const status = answers.shift() ?? 200;
    answers.push(status);
    return { status };
  });
  load = keepSending([good.writeKey, bad.writeKey]);
}, 120_000);

afterAll(async () => {
  isOver = true;
  await load;
  server?.kill();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

/** How many series answer an expression of a panel now. */
async function seriesOf(expr: string): Promise<number> {
  const asked = expr
    .replaceAll("$__rate_interval", "15s")
    .replaceAll("$__range", "1m")
    .replaceAll("$d", good.destinationId)
    .replaceAll(/\$(service|instance)/g, ".*");
  const answer = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query: asked })}`);
  const { data, error } = (await answer.json()) as { data?: { result: unknown[] }; error?: string };
  if (data === undefined) throw new Error(`${error}: ${asked}`);
  return data.result.length;
}

describe.skipIf(why !== "")(`the dashboards over a Prometheus${why === "" ? "" : ` (skipped: ${why})`}`, () => {
  const queries = DASHBOARDS.flatMap(({ rows }) => rows)
    .flatMap(({ panels }) => panels)
    .flatMap((panel) => Object.values(panel.queries))
    .filter((expr) => !ELSEWHERE.test(expr));

  it("answer each expression with series", async () => {
    expect(queries.length).toBeGreaterThan(60);
    await eventually(
      async () => {
        const counts = await Promise.all(queries.map(async (expr) => [expr, await seriesOf(expr)] as const));
        expect(counts.filter(([, series]) => series === 0).map(([expr]) => expr)).toEqual([]);
      },
      { timeoutMs: 180_000, intervalMs: 2_000 },
    );
  });

  it.skipIf(process.env["POSTHASTE_PICTURES"] === undefined)("are drawn into docs/images", async () => {
    const oldest = "posthaste_build_info offset 100s";
    await eventually(async () => expect(await seriesOf(oldest)).toBe(4), { timeoutMs: 180_000, intervalMs: 2_000 });
    await drawDashboards({ url, destinationId: good.destinationId });
  });
});
