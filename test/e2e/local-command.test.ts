import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { StackFile } from "@posthaste/local-stack/data-folder";
import { findFreePorts, isPortFree } from "@posthaste/local-stack/ports";
import { scratchFolder } from "@posthaste/local-stack/scratch-folder";
import { schemaRegistryUrl } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { startReceiver } from "@posthaste/testkit/receiver";
import { deleteTopics, uniqueName } from "@posthaste/testkit/topics";
import { afterEach, beforeEach, expect, it } from "vitest";
import { metricNames } from "../checks/metrics-page.ts";
import { blocksUnder } from "./page-blocks.ts";
import { runShownCalls } from "./shown-calls.ts";

const start = fileURLToPath(new URL("../../scripts/start.mjs", import.meta.url));
const posthaste = fileURLToPath(new URL("../../packages/cli/bin/posthaste.mjs", import.meta.url));
const execute = promisify(execFile);
const READY = { timeoutMs: 90_000, intervalMs: 100 };
/** decisions.md: Ctrl-C or SIGTERM ends all of it within 15 seconds; a machine with other work on it takes longer. */
const END_MS = 60_000;

/** Of the registry; nothing may print it. */
const PASSWORD = "hunter2";

let dataDir: string;
let prefix: string;
let env: Record<string, string | undefined>;
let command: ChildProcess;
let output: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(scratchFolder(process.env), "posthaste-command-"));
  prefix = uniqueName("command");
  const [ingest = 0, control = 0] = await findFreePorts(2);
  const metrics = await findFourInARow();
  env = {
    ...process.env,
    POSTHASTE_DATA_DIR: dataDir,
    POSTHASTE_TOPIC_PREFIX: prefix,
    SCHEMA_REGISTRY_URL: withPassword(schemaRegistryUrl()),
    POSTHASTE_INGEST_PORT: String(ingest),
    POSTHASTE_CONTROL_PORT: String(control),
    POSTHASTE_METRICS_PORT: String(metrics),
    // Each costs the brokers its files.
    POSTHASTE_PARTITIONS: "2",
  };
});

afterEach(async () => {
  command.kill("SIGKILL");
  expect(output + (await logsIn(dataDir))).not.toContain(PASSWORD);
  await deleteTopics(prefix);
  await rm(dataDir, { recursive: true, force: true });
});

/** As the setting means them; below those that are found for others. */
async function findFourInARow(): Promise<number> {
  for (;;) {
    const first = 10_000 + Math.floor(Math.random() * 2_000) * 4;
    const free = await Promise.all([0, 1, 2, 3].map((nth) => isPortFree(first + nth)));
    if (free.every((each) => each)) return first;
  }
}

/** As of a registry that asks for one; this one takes everybody. */
function withPassword(url: string): string {
  return Object.assign(new URL(url), { username: "operator", password: PASSWORD }).href;
}

/** The services' output, each in a log of its own. */
async function logsIn(folder: string): Promise<string> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".log"));
  return (await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")))).join("");
}

function run(...args: string[]): void {
  output = "";
  command = spawn(process.execPath, [start, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [command.stdout, command.stderr]) {
    stream?.on("data", (chunk) => {
      output += String(chunk);
    });
  }
}

/** The content of stack.json once the command has printed its hints. */
async function running(): Promise<StackFile> {
  await eventually(() => {
    if (command.exitCode !== null) throw new Error(`ended with ${command.exitCode}:\n${output}`);
    expect(output).toContain("Ctrl-C ends all of it.");
  }, READY);
  return JSON.parse(await readFile(join(dataDir, "stack.json"), "utf8")) as StackFile;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The examples of README.md and docs/ingest.md are answered as they say. */
async function assertPagesHold({ ingest, control }: StackFile, token: string): Promise<void> {
  const sources = await fetch(`${control}/v1/sources`, { headers: { authorization: `Bearer ${token}` } });
  const [source] = ((await sources.json()) as { readonly data: { readonly id: string; readonly writeKey: string }[] })
    .data;
  const options = { ingest, control, dataDir, writeKey: source?.writeKey ?? "", sourceId: source?.id ?? "" };
  const [event, ...others] = await runShownCalls("README.md", options);
  expect(others).toEqual([]);
  expect(event?.answers).toEqual([{ success: true }]);
  await eventually(() => expect(output).toMatch(/received track, signature good: .*"event":"Hello"/));
  const calls = await runShownCalls("docs/ingest.md", options);
  expect(calls.length).toBe(2);
  for (const { answers, expected } of calls) expect(answers).toEqual([expected]);
}

/** The first event in a minute: the commands of README.md, by the command line, with a receiver of the test's own. */
async function assertFirstEvent(): Promise<void> {
  const blocks = await blocksUnder("README.md", "Your first event in a minute", "sh");
  const [shown = ""] = blocks.filter((block) => block.includes("npx posthaste"));
  const [started, ...commands] = shown.trim().split("\n");
  expect([started, commands.length]).toEqual(["npm start", 3]);
  const receiver = await startReceiver();
  let sourceId = "SOURCE_ID";
  const shell = async (line: string): Promise<string> => {
    const typed = line
      .replace("npx posthaste", `"${process.execPath}" "${posthaste}"`)
      .replace("SOURCE_ID", sourceId)
      .replace("http://127.0.0.1:3000", receiver.url);
    return (await execute("bash", ["--norc", "-euc", typed], { env })).stdout;
  };
  try {
    const [create = "", connect = "", sample = ""] = commands;
    sourceId = /^id\t(src_\w+)$/m.exec(await shell(create))?.[1] ?? "";
    expect(await shell(connect)).toContain(`${receiver.url}/hook`);
    // A person takes the second after which the destination gets new events.
    await eventually(
      async () => {
        expect(await shell(sample)).toContain("taken\ttrue");
        expect(receiver.requestsTo("/hook")[0]?.body.toString()).toContain('"event":"Test Event"');
      },
      { ...READY, intervalMs: 1000 },
    );
  } finally {
    await receiver.close();
  }
}

/** The link that was printed opens a session, once. */
async function assertLinkSignsIn({ control }: StackFile): Promise<void> {
  const [, origin, code] = /^sign in {3}(http:\/\/127\.0\.0\.1:\d+)\/#sign-in=(\w+) /m.exec(output) ?? [];
  expect(origin).toBe(control);
  const signIn = () =>
    fetch(`${control}/v1/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code }),
    });
  const signedIn = await signIn();
  expect(signedIn.status).toBe(201);
  const [cookie = ""] = signedIn.headers.getSetCookie();
  const sources = await fetch(`${control}/v1/sources`, { headers: { cookie: cookie.split(";")[0] ?? "" } });
  expect(sources.status).toBe(200);
  expect((await signIn()).status).toBe(401);
}

/** A first run in the folder, whose end is a SIGKILL: nothing is left running, and the folder serves the next run. */
async function assertSecretsStayApart(): Promise<void> {
  const own = env;
  env = { ...own, POSTHASTE_ADMIN_TOKEN: "a-token-of-the-test", POSTHASTE_SECRET_KEYS: `k1:${"A".repeat(43)}=` };
  run("--no-demo");
  const { processes } = await running();
  expect(output).not.toContain("signature");
  const held = processes.map(async ({ name, pid }): Promise<[string, readonly string[]]> => {
    const settings = (await readFile(`/proc/${pid}/environ`, "utf8")).split("\0").map((line) => line.split("=")[0]);
    return [name, ["POSTHASTE_ADMIN_TOKEN", "POSTHASTE_SECRET_KEYS"].filter((secret) => settings.includes(secret))];
  });
  expect(Object.fromEntries(await Promise.all(held))).toEqual({
    ingest: [],
    router: [],
    delivery: ["POSTHASTE_SECRET_KEYS"],
    control: ["POSTHASTE_ADMIN_TOKEN", "POSTHASTE_SECRET_KEYS"],
  });
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
  command.kill("SIGKILL");
  await eventually(() => expect(processes.filter(({ pid }) => isAlive(pid))).toEqual([]), { timeoutMs: END_MS });
  expect(output).not.toContain(PASSWORD);
  env = own;
}

it("keeps secrets apart, starts again after a SIGKILL, shows all seven kinds delivered, says what dies, and ends within 15 s of SIGTERM", async () => {
  await assertSecretsStayApart();
  run();
  const stack = await running();
  for (const type of ["identify", "track", "page", "screen", "group", "alias", "delete"]) {
    expect(output).toMatch(new RegExp(`^${type} +200 +good +\\d+$`, "m"));
  }
  expect(output).toContain("Webhooks may reach 127.0.0.0/8,::1/128 here");
  expect(output).toContain("registry: http://***@");
  expect(stack.ingest).toBe(`http://127.0.0.1:${env["POSTHASTE_INGEST_PORT"]}`);
  expect(stack.control).toBe(`http://127.0.0.1:${env["POSTHASTE_CONTROL_PORT"]}`);
  await eventually(async () => expect((await fetch(`${stack.control}/readyz`)).status).toBe(200));
  for (const [service, url] of Object.entries(stack.metrics)) {
    const page = await fetch(url);
    expect(page.status).toBe(200);
    // The source of docs/metrics.md runs.
    const names = [...(await page.text()).matchAll(/^# TYPE (posthaste_\S+)/gm)].map(([, name]) => name);
    expect(names.toSorted()).toEqual((await metricNames())[service]?.toSorted());
  }
  expect(stack.processes.map(({ name }) => name)).toEqual(["ingest", "router", "delivery", "control"]);
  // The token opens control and is for its owner's eyes only.
  const token = await readFile(join(dataDir, "admin-token"), "utf8");
  const sources = await fetch(`${stack.control}/v1/sources`, { headers: { authorization: `Bearer ${token.trim()}` } });
  expect(sources.status).toBe(200);
  expect((await stat(join(dataDir, "admin-token"))).mode & 0o077).toBe(0);

  await assertLinkSignsIn(stack);
  await assertPagesHold(stack, token.trim());
  await assertFirstEvent();

  await eventually(async () => {
    const metrics = await (await fetch(stack.metrics["control"] ?? "")).text();
    expect(metrics).toMatch(/^posthaste_canary_received_total [1-9]/m);
  }, READY);

  const killed = stack.processes.find(({ name }) => name === "router");
  process.kill(killed?.pid ?? 0, "SIGKILL");
  await eventually(() => expect(output).toContain("router ended by itself"));

  const reportedAt = performance.now();
  command.kill("SIGTERM");
  const [code] = await once(command, "exit");
  expect(code).toBe(0);
  expect(performance.now() - reportedAt).toBeLessThan(END_MS);
  expect(stack.processes.filter(({ pid }) => isAlive(pid))).toEqual([]);
});

it("refuses to start beside a port that is taken, naming the setting that moves it", async () => {
  const other = await startReceiver({ port: Number(env["POSTHASTE_INGEST_PORT"]) });
  run("--no-demo");
  const [code] = await once(command, "exit");
  await other.close();
  expect(code).toBe(1);
  expect(output).toContain(`port ${other.port} is taken: set POSTHASTE_INGEST_PORT to another`);
});

it("secures no cluster that somebody else runs", async () => {
  run("--secure");
  const [code] = await once(command, "exit");
  expect(code).toBe(1);
  expect(output).toContain("--secure: KAFKA_BROKERS names a cluster, which has a security of its own");
});

it.each([
  [["--brokers", "2"], "--brokers: expected 1 or 3, got 2"],
  [["--demo"], "unknown option --demo"],
])("says what it cannot read: %j", async (args, message) => {
  run(...args);
  const [code] = await once(command, "exit");
  expect(code).toBe(2);
  expect(output).toContain(message);
});
