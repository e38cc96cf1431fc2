/**
 * deploy/compose.yaml by a real Docker: it builds and starts everything, a canary goes through all of it, and the
 * programs that watch see services and brokers. It takes the ports of compose on 127.0.0.1, and removes its volumes.
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const run = promisify(execFile);
const COMPOSE = fileURLToPath(new URL("../../deploy/compose.yaml", import.meta.url));
const BUILD_MS = 30 * 60_000;
/** The brokers, the registry and the topics first; a canary every ten seconds then. */
const PATIENCE = { timeoutMs: 10 * 60_000, intervalMs: 1000 };

const env = {
  ...process.env,
  POSTHASTE_ADMIN_TOKEN: randomBytes(16).toString("hex"),
  POSTHASTE_SECRET_KEYS: `k1:${randomBytes(32).toString("base64")}`,
};
const compose = (...words: readonly string[]) =>
  run("docker", ["compose", "-f", COMPOSE, "-p", "posthaste-test", ...words], { env, maxBuffer: 64_000_000 });

const why = await run("docker", ["info"]).then(
  () => "",
  () => "no Docker answers",
);
if (why !== "") process.stdout.write(`skipped: compose up: ${why}\n`);

async function answerOf(url: string): Promise<unknown> {
  const answer = await fetch(url);
  expect(answer.status, url).toBe(200);
  return answer.json();
}

/** The number that Prometheus answers; undefined for no series. */
async function numberOf(query: string): Promise<number | undefined> {
  const answer = await answerOf(`http://127.0.0.1:9090/api/v1/query?query=${encodeURIComponent(query)}`);
  const { result } = (
    answer as { readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] } }
  ).data;
  const [first] = result;
  return first === undefined ? undefined : Number(first.value[1]);
}

describe.skipIf(why !== "")(`compose up${why === "" ? "" : ` (skipped: ${why})`}`, () => {
  beforeAll(async () => {
    await compose("up", "--build", "--detach");
  }, BUILD_MS);

  afterAll(async () => {
    await compose("down", "--volumes", "--timeout", "30");
  }, BUILD_MS);

  it(
    "is ready, and a canary goes through everything",
    async () => {
      await eventually(
        async () => expect(await answerOf("http://127.0.0.1:8090/readyz")).toMatchObject({ ready: true }),
        PATIENCE,
      );
      await eventually(
        async () => expect(await numberOf("sum(posthaste_canary_received_total)")).toBeGreaterThan(0),
        PATIENCE,
      );
    },
    BUILD_MS,
  );

  it(
    "is seen: each service, the broker, the alert that always fires, and the dashboards",
    async () => {
      await eventually(async () => {
        expect(await numberOf("count(count by (service) (posthaste_build_info))")).toBe(4);
        expect(await numberOf('sum(kafka_controller_kafkacontroller_activecontrollercount{job="kafka"})')).toBe(1);
        expect(JSON.stringify(await answerOf("http://127.0.0.1:9093/api/v2/alerts"))).toContain("PosthasteWatchdog");
        const found = (await answerOf("http://127.0.0.1:3000/api/search?type=dash-db")) as readonly unknown[];
        expect(found).toHaveLength(4);
      }, PATIENCE);
    },
    BUILD_MS,
  );
});
