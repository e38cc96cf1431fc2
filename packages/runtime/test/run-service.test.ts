import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { startOtlpReceiver } from "@posthaste/testkit/otlp-receiver";
import { afterEach, expect, it } from "vitest";

const script = fileURLToPath(new URL("./example-service.ts", import.meta.url));
const children: ChildProcessWithoutNullStreams[] = [];

afterEach(() => {
  for (const child of children.splice(0)) if (child.exitCode === null) child.kill("SIGKILL");
});

function run(env: Record<string, string>) {
  const child = spawn(process.execPath, [script], { env: { ...process.env, EXAMPLE_STOP: "cleanly", ...env } });
  children.push(child);
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    output.stdout += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    output.stderr += chunk.toString();
  });
  const exited = once(child, "close").then(([code]) => code as number | null);
  const says = async (word: string) => {
    while (!output.stdout.includes(word)) await Promise.race([once(child.stdout, "data"), exited]);
  };
  return { child, output, exited, says };
}

it("SV1: a setting that cannot be read ends the process with code 2 and the variable's name", async () => {
  const service = run({ EXAMPLE_STOP: "perhaps" });
  expect(await service.exited).toBe(2);
  expect(service.output.stderr).toContain("EXAMPLE_STOP");
  expect(service.output.stdout).toBe("");
});

it("SV2: SIGTERM stops the service and ends with code 0", async () => {
  const service = run({});
  await service.says("started");
  service.child.kill("SIGTERM");
  expect(await service.exited).toBe(0);
  expect(service.output.stdout).toBe("started\nstopping\nstopped\n");
});

it("SV2: a second signal ends a stop that hangs", async () => {
  const service = run({ EXAMPLE_STOP: "never" });
  await service.says("started");
  service.child.kill("SIGTERM");
  await service.says("stopping");
  service.child.kill("SIGINT");
  expect(await service.exited).toBe(1);
});

it("SV3: a start that fails, and a service that says it cannot go on, end with code 1 and the reason", async () => {
  const atStart = run({ EXAMPLE_FAIL: "at start" });
  expect(await atStart.exited).toBe(1);
  expect(atStart.output.stderr).toContain("no broker answers");
  const late = run({ EXAMPLE_FAIL: "late" });
  expect(await late.exited).toBe(1);
  expect(late.output.stderr).toContain("the group stalled");
});

it("SV4: standard input that closes stops the service where it was asked to", async () => {
  const service = run({ POSTHASTE_STOP_ON_STDIN_CLOSE: "true" });
  await service.says("started");
  service.child.stdin.end();
  expect(await service.exited).toBe(0);
  expect(service.output.stdout).toContain("stopped");
});

it("SV5: a service that waits for something to start says so where its readiness is asked for", async () => {
  const service = run({ EXAMPLE_FAIL: "waits" });
  while (!service.output.stderr.includes("trying on")) await once(service.child.stderr, "data");
  const [, admin] = /"admin":"([^"]+)"/.exec(service.output.stderr) ?? [];
  const answer = await fetch(`${admin}/readyz`);
  expect([answer.status, await answer.json()]).toEqual([
    503,
    { ready: false, checks: { running: "starting: trying on (it answers with more than it may)" } },
  ]);
});

it("SV6: traces are off by default, and what other programs set for theirs stops no start", async () => {
  const service = run({ OTEL_TRACES_SAMPLER: "perhaps" });
  await service.says("started");
  const traced = run({ OTEL_TRACES_SAMPLER: "perhaps", POSTHASTE_TRACES: "true" });
  expect(await traced.exited).toBe(2);
  expect(traced.output.stderr).toContain("OTEL_TRACES_SAMPLER");
});

/** With traces, which wait for the collector longer than a stop may take. */
const TRACES = { POSTHASTE_TRACES: "true", OTEL_EXPORTER_OTLP_TIMEOUT: "60000", OTEL_BSP_EXPORT_TIMEOUT: "60000" };

it.each([undefined, "hang"] as const)(
  "TX3: with traces, the spans are sent at the stop (collector: %s)",
  async (fault) => {
    const collector = await startOtlpReceiver(fault === undefined ? {} : { fault });
    const service = run({ ...TRACES, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    await service.says("started");
    service.child.kill("SIGTERM");
    expect(await service.exited).toBe(0);
    expect(collector.requests).toHaveLength(1);
    expect(collector.spans.map(({ name }) => name)).toEqual(fault === undefined ? ["example"] : []);
    await collector.close();
  },
);
