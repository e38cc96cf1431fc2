/** Runs every command of docs/control-api.md, by a shell and curl, against a control of the test's own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ADMIN_TOKEN, startTestControl, type TestControl } from "./control.ts";
import { createLogWriter, deadLetterAt } from "./log-writer.ts";

const page = await readFile(new URL("../../../docs/control-api.md", import.meta.url), "utf8");
const LOCAL_CONTROL = "http://127.0.0.1:8090";

/** The shell blocks of the page; the first makes what the others use. */
const [definitions = "", ...blocks] = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = ""]) => block);

/** The commands of a block. A line that begins with none goes on with the one before; comments are left out. */
function commandsOf(block: string): readonly string[] {
  return block
    .replaceAll(/^#.*\n/gm, "")
    .split(/^(?=posthaste-(?:api|lines) )/m)
    .filter((command) => command.trim() !== "");
}

const commands = blocks.flatMap(commandsOf);

let folder: string;
let topics: TestTopics;
let control: TestControl;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "posthaste-docs-"));
  await mkdir(join(folder, ".posthaste"));
  await writeFile(join(folder, ".posthaste", "admin-token"), `${ADMIN_TOKEN}\n`);
  await writeFile(join(folder, "members.ndjson"), '"ada"\n17\n{"userId": "bob"}\n');
  await writeFile(join(folder, "values.ndjson"), '{"userId": "ada", "value": 12.5}\n');
  topics = await createTestTopics("control");
  control = await startTestControl(topics);
});

afterAll(async () => {
  await control.stop();
  await topics.remove();
  await rm(folder, { recursive: true });
});

interface Made {
  readonly source: string;
  readonly destination: string;
  readonly audience: string;
  readonly replay: string;
  readonly plan: string;
  readonly purge: string;
  readonly place: string;
  readonly deletion: string;
  readonly token: string;
  readonly receiver: string;
}

/** What the page's variables name, made anew for each command: some of the commands remove it. */
async function make(): Promise<Made> {
  const source = (await control.call("POST", "/v1/sources", { name: "Web shop", kind: "web" })).body.id;
  const settings = { urls: [{ url: "http://127.0.0.1:1/hook" }] };
  const input = { type: "Webhooks", name: "Billing", sourceIds: [source], settings };
  const destination = (await control.call("POST", "/v1/destinations", input)).body.id;
  const audience = (await control.call("POST", "/v1/audiences", { name: "Made", sourceId: source })).body.id;
  const writer = await createLogWriter(topics);
  await writer.deadLetters([deadLetterAt(1, { destinationId: destination })]);
  const replay = await eventually(async () => {
    // So slow that it can still be paused.
    const slow = { destinationId: destination, ratePerSecond: 0.001 };
    const { body } = await control.call("POST", "/v1/dead-letters/replay", slow);
    expect(body.id).toMatch(/^rpl_/);
    return body.id;
  });
  const dryRun = { destinationId: destination, dryRun: true };
  const { plan } = (await control.call("POST", "/v1/dead-letters/replay", dryRun)).body;
  const place = await eventually(async () => {
    const [letter] = (await control.call("GET", `/v1/dead-letters?destinationId=${destination}`)).body.data;
    return letter.place;
  });
  const purge = (await control.call("POST", "/v1/dead-letters/purge", dryRun)).body.plan;
  const deletion = (await control.call("POST", "/v1/deletions", { userId: "user-7" })).body.id;
  const token = (await control.call("POST", "/v1/tokens", { name: "dashboard", scopes: ["read"] })).body.id;
  const receiver = (await control.call("POST", "/v1/test-receivers", {})).body.id;
  return { receiver, source, destination, audience, replay, plan, purge, place, deletion, token };
}

interface Ran {
  readonly exitCode: number;
  readonly status: number;
  readonly stderr: string;
}

async function run(command: string, made: Made): Promise<Ran> {
  const { source, destination, audience, replay, plan, purge, place, deletion, token } = made;
  const withStatus = 'curl() { command curl -w "\\n%{http_code}" "$@"; }';
  const script = `${definitions.replace(LOCAL_CONTROL, control.url)}\n${withStatus}\n${command}`;
  const shell = spawn("bash", ["--norc", "-euc", script], {
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      ...{
        SOURCE: source,
        DESTINATION: destination,
        MESSAGE_ID: "message-1",
        AUDIENCE: audience,
        REPLAY: replay,
        PLAN: plan,
        PURGE: purge,
        PLACE: place,
        DELETION: deletion,
        TOKEN: token,
        RECEIVER: made.receiver,
      },
    },
  });
  const [[code], stdout, stderr] = await Promise.all([once(shell, "exit"), text(shell.stdout), text(shell.stderr)]);
  return { exitCode: code, status: Number(stdout.trimEnd().split("\n").at(-1)), stderr };
}

it("has commands to run, and names control where the local command has it", () => {
  expect(commands.length).toBeGreaterThan(10);
  expect(definitions).toContain(LOCAL_CONTROL);
});

const isEndless = (command: string) => command.includes("/v1/live");

it.each(commands.filter(isEndless))("shows a command that goes on until it is ended: %s", async (command) => {
  const made = await make();
  let seconds = 1;
  await eventually(async () => {
    const { exitCode, status, stderr } = await run(command.replace("-N", `-N --max-time ${seconds}`), made);
    // A busy machine may have said nothing by then. What control refuses at once, since it reads nothing yet, is asked
    // again as it was.
    if (exitCode === 28) seconds *= 2;
    expect([exitCode, status, stderr]).toEqual([28, 200, expect.stringMatching(/timed out.* with \d+ bytes received/)]);
  });
});

it.each(commands.filter((each) => !isEndless(each)))("shows a command that control takes: %s", async (command) => {
  const { exitCode, status, stderr } = await run(command, await make());
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect([200, 201, 202, 204]).toContain(status);
});
