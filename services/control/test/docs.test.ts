/** Runs every command of docs/control-api.md, by a shell and curl, against a control of the test's own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createLogWriter, deadLetterAt } from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ADMIN_TOKEN, startTestControl, type TestControl } from "./control.ts";

const page = await readFile(new URL("../../../docs/control-api.md", import.meta.url), "utf8");
const LOCAL_CONTROL = "http://127.0.0.1:8090";

/** The shell blocks of the page; the first defines the variables and functions of the others. */
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

const madeOnce = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
};

/** The id of the resource that a request makes. */
const idOf = async (path: string, input: object): Promise<string> => (await control.call("POST", path, input)).body.id;

/** Functions that make the resources of the page's variables, by variable. */
function makers(): Readonly<Record<string, () => Promise<string>>> {
  const source = madeOnce(() => idOf("/v1/sources", { name: "Web shop", kind: "web" }));
  const destination = madeOnce(async () => {
    const settings = { urls: [{ url: "http://127.0.0.1:1/hook" }] };
    return idOf("/v1/destinations", { type: "Webhooks", name: "Billing", sourceIds: [await source()], settings });
  });
  /** The place of a dead letter of the destination. */
  const place = madeOnce(async () => {
    const destinationId = await destination();
    const writer = await createLogWriter(topics);
    await writer.deadLetters([deadLetterAt(1, { destinationId })]);
    return eventually(async () => {
      const [deadLetter] = (await control.call("GET", `/v1/dead-letters?destinationId=${destinationId}`)).body.data;
      return deadLetter.place;
    });
  });
  const ofLetters = async (path: string, input: object) => {
    await place();
    const asked = { destinationId: await destination(), ...input };
    return (await control.call("POST", path, asked)).body;
  };
  return {
    SOURCE: source,
    DESTINATION: destination,
    PLACE: place,
    MESSAGE_ID: () => place().then(() => "message-1"),
    // So slow that it can still be paused.
    REPLAY: async () => (await ofLetters("/v1/replays", { ratePerSecond: 0.001 })).id,
    PLAN: async () => (await ofLetters("/v1/replays", { dryRun: true })).plan,
    PURGE: async () => (await ofLetters("/v1/dead-letters/purge", { dryRun: true })).plan,
    AUDIENCE: async () => idOf("/v1/audiences", { name: "Made", sourceId: await source() }),
    DELETION: () => idOf("/v1/deletions", { userId: "user-7" }),
    TOKEN: () => idOf("/v1/tokens", { name: "dashboard", scopes: ["read"] }),
    RECEIVER: () => idOf("/v1/test-receivers", {}),
  };
}

/**
 * Makes the resources of the command's variables anew for each command, since some commands remove them. A command
 * gets only the resources that it names. Otherwise each of seventy commands would leave a slow replay beside others.
 */
async function make(command: string): Promise<Readonly<Record<string, string>>> {
  const all = makers();
  // A command that lists dead letters or deliveries finds one.
  if (/dead-letters|deliveries/.test(command)) await all["PLACE"]?.();
  const named = Object.keys(all).filter((name) => new RegExp(`\\$${name}\\b`).test(command));
  const made: Record<string, string> = {};
  for (const name of named) made[name] = String(await all[name]?.());
  return made;
}

interface Ran {
  readonly exitCode: number;
  readonly status: number;
  readonly stderr: string;
}

async function run(command: string, made: Readonly<Record<string, string>>): Promise<Ran> {
  const withStatus = 'curl() { command curl -w "\\n%{http_code}" "$@"; }';
  const script = `${definitions.replace(LOCAL_CONTROL, control.url)}\n${withStatus}\n${command}`;
  const shell = spawn("bash", ["--norc", "-euc", script], { cwd: folder, env: { PATH: process.env["PATH"], ...made } });
  const [[code], stdout, stderr] = await Promise.all([once(shell, "exit"), text(shell.stdout), text(shell.stderr)]);
  return { exitCode: code, status: Number(stdout.trimEnd().split("\n").at(-1)), stderr };
}

it("has commands to run, and names control where the local command has it", () => {
  expect(commands.length).toBeGreaterThan(10);
  expect(definitions).toContain(LOCAL_CONTROL);
});

const isEndless = (command: string) => command.includes("/v1/live");

it.each(commands.filter(isEndless))("shows a command that goes on until it is ended: %s", async (command) => {
  const made = await make(command);
  let seconds = 1;
  await eventually(async () => {
    const { exitCode, status, stderr } = await run(command.replace("-N", `-N --max-time ${seconds}`), made);
    // A busy machine may have sent nothing by then. Control may also refuse a stream at once while it has read nothing
    // yet; the test then repeats the same request.
    if (exitCode === 28) seconds *= 2;
    expect([exitCode, status, stderr]).toEqual([28, 200, expect.stringMatching(/timed out.* with \d+ bytes received/)]);
  });
});

it.each(commands.filter((each) => !isEndless(each)))("shows a command that control takes: %s", async (command) => {
  const { exitCode, status, stderr } = await run(command, await make(command));
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect([200, 201, 202, 204]).toContain(status);
});
