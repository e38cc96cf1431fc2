/**
 * Every expression of the dashboards and the recorded ratios, asked of a real Prometheus that scrapes an installation
 * under load: a misspelt label or an empty selection answers with no series, which no parser notices.
 */
import { PROMETHEUS, provideProgram } from "@posthaste/testkit/debian-program";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DASHBOARDS } from "../checks/dashboards/dashboards.ts";
import { sendBatch } from "./calls.ts";
import { drawDashboards } from "./draw-dashboards.ts";
import { type Prometheus, startPrometheus } from "./prometheus.ts";
import { createRoute, type Route } from "./route.ts";
import { installation, receiver, useInstallation } from "./use-installation.ts";

const prometheus = await provideProgram(PROMETHEUS, process.env);
const why = "missing" in prometheus ? prometheus.missing : "";
/** The brokers of a test have no exporter; a destination holds no partition beside others. */
const ELSEWHERE = /kafka_|posthaste:kafka_disk/;

useInstallation();

let server: Prometheus | undefined;
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
  const targets = Object.entries(installation.system.metricsUrls);
  server = await startPrometheus({ path: prometheus.path, targets, ruleFiles: ["rules.yml"] });
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
  await server?.close();
});

/** How many series answer an expression of a panel now. */
async function seriesOf(expr: string): Promise<number> {
  const asked = expr
    .replaceAll("$__rate_interval", "15s")
    .replaceAll("$__range", "1m")
    .replaceAll("$d", good.destinationId)
    .replaceAll(/\$(service|instance)/g, ".*");
  return (await server?.query(asked))?.length ?? 0;
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
    await drawDashboards({ url: server?.url ?? "", destinationId: good.destinationId });
  });
});
