/**
 * The local command, `npm start`, starts all of Posthaste on 127.0.0.1 and runs a demonstration. Then it stays until
 * somebody ends it.
 *
 * - Ctrl-C, SIGTERM or the end of its standard input ends all of it within 15 s. A second signal ends it at once, and
 *   so does a signal during the start.
 * - The command says so when a process dies by itself. The others stay up, and the command starts nothing again.
 * - The exit code is 0 after a signal, 1 when the start or the demonstration failed, and 2 for arguments or settings
 *   that cannot be read.
 */
import { fileURLToPath } from "node:url";
import { createControlClient } from "./demo/control-client.ts";
import { type Demo, runDemo } from "./demo/demo.ts";
import { isPortFree } from "./process/ports.ts";
import { StackError } from "./process/stack-error.ts";
import {
  keepAdminToken,
  keepSecretKeys,
  lockDataFolder,
  makeDataFolder,
  removeStackFile,
  type StackFile,
  waitForLastRun,
  writeStackFile,
} from "./services/data-folder.ts";
import type { ServicePorts } from "./services/services.ts";
import { type CommandSettings, readCommandSettings, USAGE } from "./services/settings.ts";
import { shownUrl } from "./stack/shown-url.ts";
import { type System, startSystem } from "./stack/system.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const startedAt = performance.now();

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Prints a line of progress with the seconds since the start. */
function progress(line: string): void {
  say(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(5)} s  ${line}`);
}

function readSettings(): CommandSettings {
  try {
    return readCommandSettings(process.argv.slice(2), process.env, root);
  } catch (error) {
    if (!(error instanceof StackError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
}

async function assertPortsFree(ports: ServicePorts): Promise<void> {
  const named = [
    ["POSTHASTE_INGEST_PORT", ports.ingest],
    ["POSTHASTE_CONTROL_PORT", ports.control],
    ...Object.values(ports.admin).map((port) => ["POSTHASTE_METRICS_PORT", port] as const),
  ] as const;
  for (const [name, port] of named) {
    if (!(await isPortFree(port))) throw new StackError(`port ${port} is taken: set ${name} to another`);
  }
}

async function start(settings: CommandSettings): Promise<System> {
  const { dataDir, ports, allowNetworks } = settings;
  await makeDataFolder(dataDir);
  await lockDataFolder(dataDir);
  await waitForLastRun(dataDir, progress);
  await assertPortsFree(ports);
  const system = await startSystem({
    dataDir,
    ports,
    brokers: settings.brokers,
    ...(settings.secure ? { security: { logsGranted: false } } : {}),
    adminToken: await keepAdminToken(dataDir, settings.adminToken),
    secretKeys: process.env["POSTHASTE_SECRET_KEYS"] || (await keepSecretKeys(dataDir)),
    env: process.env,
    settings: {
      POSTHASTE_ALLOW_NETWORKS: allowNetworks,
      POSTHASTE_CANARY: process.env["POSTHASTE_CANARY"] || "true",
      POSTHASTE_CANARY_ORIGINS: `http://127.0.0.1:${ports.control}`,
    },
    log: progress,
    onUnexpectedExit: (name, reason) => {
      if (!ending) say(`${name} ended by itself (${reason}); its log is in ${dataDir}. Start again to have it back.`);
    },
  });
  await writeStackFile(dataDir, stackFileOf(system));
  progress("ready");
  return system;
}

function introduce({ dataDir, allowNetworks }: CommandSettings, system: System): void {
  say("");
  say(`ingest    ${system.ingestUrl}`);
  say(`control   ${system.controlUrl}   admin token: ${system.adminToken}`);
  for (const [name, url] of Object.entries(system.metricsUrls)) say(`metrics   ${url}   (${name})`);
  say(`brokers   ${system.stack.brokers.join(", ")}   registry: ${shownUrl(system.stack.schemaRegistry)}`);
  if (system.stack.secured) say(SECURED);
  say(`data      ${dataDir}   (logs and stack.json, which names every process)`);
  say(`Webhooks may reach ${allowNetworks} here (POSTHASTE_ALLOW_NETWORKS); elsewhere private networks are refused.`);
  say("");
}

/** The registry takes plain text either way: it listens on 127.0.0.1 only, and does not authenticate callers. */
const SECURED = "secured   Kafka by TLS and SCRAM, each service as a user of its own; the registry is not";

/** The next steps; the last line leads to the console. */
async function suggest(system: System, demo: Demo | undefined): Promise<void> {
  const link = await createControlClient(system.controlUrl, system.adminToken).createSignInLink();
  const authorize = `-H 'authorization: Bearer ${system.adminToken}'`;
  if (demo) {
    say("Send one of your own; it is shown here when the receiver has it:");
    say(`  curl -u ${demo.writeKey}: ${system.ingestUrl}/v1/track -H 'content-type: application/json' \\`);
    say(`    -d '{"userId": "ada", "event": "Hello", "properties": {"from": "curl"}}'`);
    say("See what control knows:");
  } else {
    say("Make a source, then a destination for it (control's /openapi.json describes both):");
    say(`  curl ${authorize} ${system.controlUrl}/v1/sources -H 'content-type: application/json' \\`);
    say(`    -d '{"name": "My server", "kind": "server"}'`);
  }
  say(`  curl ${authorize} ${system.controlUrl}/v1/destinations`);
  say("Ctrl-C ends all of it. The console:");
  say(`sign in   ${link}   (once, within 24 hours; npx posthaste open makes another)`);
}

const settings = readSettings();
if (settings.help) {
  say(USAGE);
  process.exit(0);
}

/** One Ctrl-C arrives several times: from the terminal, from npm, from the script above this process. */
const SAME_SIGNAL_MS = 1_000;

let started = false;
let ending = false;
const reported = new Promise<void>((resolve) => {
  let firstMs = Number.POSITIVE_INFINITY;
  const end = (cause: string): void => {
    // The processes' guards end the remaining ones when this process goes.
    if (performance.now() - firstMs > SAME_SIGNAL_MS) process.exit(1);
    if (ending) return;
    ending = true;
    firstMs = performance.now();
    say(`\n${cause}: ending`);
    if (started) resolve();
    else process.exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => end(signal));
  process.stdin.resume();
  process.stdin.once("close", () => end("standard input closed"));
});

function stackFileOf({ stack, ingestUrl, controlUrl, metricsUrls, processes }: System): StackFile {
  return {
    brokers: stack.brokers,
    schemaRegistry: stack.schemaRegistry,
    ingest: ingestUrl,
    control: controlUrl,
    metrics: metricsUrls,
    processes: processes.flatMap(({ name, pid }) => (pid === undefined ? [] : [{ name, pid }])),
  };
}

async function runUntilStopped(): Promise<void> {
  const system = await start(settings);
  started = true;
  introduce(settings, system);
  let demo: Demo | undefined;
  try {
    if (settings.demo) {
      demo = await runDemo({ system, log: progress, onReceived: say });
      say(`\n${demo.table}\n`);
      if (!demo.complete) throw new StackError("the demonstration is not complete: see the table");
    }
    await suggest(system, demo);
    await reported;
  } finally {
    ending = true;
    await system.stop();
    await demo?.receiver.close();
    await removeStackFile(settings.dataDir);
  }
}

try {
  await runUntilStopped();
  process.exit(0);
} catch (error) {
  process.stderr.write(`${error instanceof StackError ? error.message : String((error as Error).stack)}\n`);
  process.exit(1);
}
