/**
 * The examples of docs/dead-letters.md, as a data engineer would copy them, over the dead letters of a real run: 9,000
 * that were refused at once and 1,000 whose window ended. Where an engine is missing its tests are skipped, with the
 * reason printed.
 */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import { KCAT, provideProgram } from "@posthaste/testkit/debian-program";
import { eventually } from "@posthaste/testkit/eventually";
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sendBatch } from "./calls.ts";
import { readDeadLetters } from "./dead-letters.ts";
import { type Installation, startInstallation } from "./installation.ts";
import { blocksUnder } from "./page-blocks.ts";
import { providePython } from "./python.ts";
import { countRecords } from "./read-topic.ts";
import { createRoute, type Route } from "./route.ts";

const PAGE = "docs/dead-letters.md";
const REFUSED = 9_000;
const EXPIRED = 1_000;
const FEW = 3;
const BATCH = 250;
const ARRIVAL = { timeoutMs: 60_000 };

const run = promisify(execFile);
const CLI = fileURLToPath(new URL("../../packages/cli/bin/posthaste.mjs", import.meta.url));
const MAX_OUTPUT = { maxBuffer: 64 * 1024 * 1024 };

const [kcat, python] = await Promise.all([provideProgram(KCAT, process.env), providePython(await requirements())]);
for (const found of [kcat, python]) {
  if ("missing" in found) process.stdout.write(`examples of dead letters are skipped: ${found.missing}\n`);
}

let installation: Installation;
let receiver: Receiver;
let refused: Route;
let expired: Route;
let folder: string;

beforeAll(async () => {
  const settings = { POSTHASTE_RETRY_SCHEDULE: "1s,1s,2s", POSTHASTE_RETRY_WINDOW: "10s" };
  [installation, receiver, folder] = await Promise.all([
    startInstallation({ settings }),
    startReceiver(),
    mkdtemp(join(tmpdir(), "posthaste-examples-")),
  ]);
  [refused, expired] = await Promise.all([
    createRoute(installation, receiver, "/unauthorised"),
    createRoute(installation, receiver, "/down"),
  ]);
  receiver.script(refused.path, { status: 401 });
  receiver.script(expired.path, { status: 503 });
  // A few first, which are tried again before so many fail that the others are deferred.
  await sendMany(expired, 0, FEW);
  await eventually(() => {
    const attempts = receiver.requestsTo(expired.path).map(({ headers }) => headers["x-attempt"]);
    expect(attempts).toContain("2");
  }, ARRIVAL);
  await sendMany(expired, FEW, EXPIRED);
  await sendMany(refused, 0, REFUSED);
  const { brokers } = installation.system.stack;
  await eventually(
    async () => expect(await countRecords(brokers, installation.names.deadLetters)).toBe(REFUSED + EXPIRED),
    { timeoutMs: 120_000, intervalMs: 500 },
  );
});

afterAll(async () => {
  await installation.close();
  await receiver.close();
  await rm(folder, { recursive: true, force: true });
  expect(installation.unexpectedExits).toEqual([]);
});

describe.skipIf("missing" in python)("in Python", () => {
  it("each of 10,000 dead letters is decoded, with its class, its headers and its history", async () => {
    const lines = await runPython((await blocksUnder(PAGE, "In Python", "python")).join("\n"));
    const letters = lines.map((line) => JSON.parse(line) as PrintedLetter);
    const ids = (path: string, count: number) => Array.from({ length: count }, (_, index) => `${path}-${index}`);
    expect(letters.map(({ messageId }) => messageId).sort()).toEqual(
      [...ids(refused.path, REFUSED), ...ids(expired.path, EXPIRED)].sort(),
    );
    for (const letter of letters) expectWhole(letter);
    const ofExpired = letters.filter(({ destinationId }) => destinationId === expired.destinationId);
    expect(Math.max(...ofExpired.map(({ history }) => history.length))).toBeGreaterThanOrEqual(2);
  });
});

describe.skipIf("missing" in python)("in SQL, by DuckDB", () => {
  it("the exported Parquet answers what to mend first, how the attempts went, and who missed most", async () => {
    const [command = ""] = await blocksUnder(PAGE, "In SQL, by DuckDB", "sh");
    await run(process.execPath, [CLI, "--url", installation.system.controlUrl, ...command.trim().split(" ").slice(1)], {
      cwd: folder,
      env: exampleEnvironment(),
    });
    const queries = await blocksUnder(PAGE, "In SQL, by DuckDB", "sql");
    const [toMend = [], attempts = [], users = []] = await Promise.all(queries.map(runQuery));
    expect(toMend).toMatchObject([
      { destinationId: refused.destinationId, reasonClass: "configuration", answer: "401", letters: REFUSED },
      { destinationId: expired.destinationId, reasonClass: "receiver", answer: "503", letters: EXPIRED },
    ]);
    const firstAttempts = attempts.filter(({ attempt }) => attempt === "1");
    expect(new Set(firstAttempts.map((row) => `${row.destinationId} ${row.answer} ${row.times}`))).toEqual(
      new Set([`${refused.destinationId} 401 ${REFUSED}`, `${expired.destinationId} 503 ${EXPIRED}`]),
    );
    expect(users).toHaveLength(20);
    expect(users[0]).toMatchObject({ missed: 1, events: ["Ordered"], types: ["track"] });
  });

  it("each row of the exported Parquet is a record of the topic, column by column", async () => {
    const times = ["time", "receivedAt", "firstAttemptAt", "windowStart"];
    const asMs = times.map((name) => `epoch_ms(${name}) AS ${name}`).join(", ");
    const rows = await runQuery(`SELECT * REPLACE (${asMs}) FROM 'letters.parquet'`);
    const { names, system } = installation;
    const letters = await readDeadLetters({ ...system.stack, names });
    const expected = new Map(letters.map((letter) => [letter.messageId, rowOf(letter)]));
    expect([rows.length, expected.size]).toEqual([letters.length, letters.length]);
    for (const { place: _, ...row } of rows) expect(row).toEqual(expected.get(String(row["messageId"])));
    expect(new Set(rows.map(({ place }) => place)).size).toBe(REFUSED + EXPIRED);
  });
});

describe.skipIf("missing" in kcat)("with kcat", () => {
  it("the headers alone tell the class of a letter, and count by destination and reason", async () => {
    const [filter = "", count = ""] = (await blocksUnder(PAGE, "With kcat", "sh")).map(ofThisTopic);
    expect((await runShell(filter)).length).toBe(REFUSED);
    const counts = (await runShell(count)).map((line) => line.trim().split(/\s+/));
    expect(counts).toEqual([
      [String(REFUSED), refused.destinationId, "rejected_by_receiver"],
      [String(EXPIRED), expired.destinationId, "window_expired"],
    ]);
  });
});

describe("in Java", () => {
  it("a hundred letters and more of each partition are decoded by the deserializer of Maven Central", async () => {
    const [pom = ""] = await blocksUnder(PAGE, "In Java", "xml");
    const [program = ""] = await blocksUnder(PAGE, "In Java", "java");
    await writeFile(join(folder, "pom.xml"), pom);
    await writeFile(join(folder, "DeadLetters.java"), program);
    const options = { cwd: folder, env: exampleEnvironment(), ...MAX_OUTPUT };
    await run("mvn", ["-q", "-B", "dependency:build-classpath", "-Dmdep.outputFile=classpath"], options);
    const classpath = await readFile(join(folder, "classpath"), "utf8");
    const { stdout } = await run("java", ["-cp", classpath.trim(), "DeadLetters.java"], options);
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => line.split("\t"));
    expect(lines.length).toBeGreaterThanOrEqual(100);
    for (const [messageId = "", reason, reasonClass, userKey, history = ""] of lines) {
      const isRefused = messageId.startsWith(refused.path);
      expect([reason, reasonClass]).toEqual(
        isRefused ? ["rejected_by_receiver", "configuration"] : ["window_expired", "receiver"],
      );
      expect(userKey).toBe(`user-of-${messageId}`);
      expect(history).toContain(`"status": ${isRefused ? 401 : 503}`);
    }
  });
});

interface PrintedLetter {
  readonly messageId: string;
  readonly destinationId: string;
  readonly reason: string;
  readonly reasonClass: string;
  readonly attempts: number;
  readonly userKey: string;
  readonly firstAttemptAtMs: number;
  readonly deadAtMs: number;
  readonly event: string;
  readonly originPartition: number;
  readonly originOffset: number;
  readonly history: readonly {
    attempt: number;
    startedAtMs: number;
    urls: readonly { url: string; status: number }[];
  }[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly event: string; readonly userId: string };
}

/** What is to stand of a letter in each column but its place. */
function rowOf(letter: DeadLetter): Row {
  const { reason, reasonClass, destinationId, sourceId, messageId, type, event, userKey, attempts, deferrals } = letter;
  const { originTopic, originPartition, originOffset, replayId, replays, replayedFrom } = letter;
  const { lastAttempt, history } = letter;
  const answers = lastAttempt.length > 0 ? lastAttempt : (history.at(-1)?.urls ?? []);
  const errors = new Set(answers.map(({ error, status }) => error ?? String(status)));
  return {
    ...{ reason, reasonClass, destinationId, sourceId, messageId, type, event, userKey, attempts, deferrals },
    ...{ originTopic, originPartition, originOffset, replayId, replays, replayedFrom },
    time: letter.deadAtMs,
    receivedAt: letter.receivedAtMs,
    firstAttemptAt: letter.firstAttemptAtMs,
    windowStart: letter.windowStartMs,
    errors: [...errors].join(","),
    lastAttempt: JSON.stringify(lastAttempt),
    history: JSON.stringify(history),
    body: Buffer.from(letter.body).toString(),
    rest: letter.restJson,
  };
}

/** That value, headers and history of one letter say the same, and what happened. */
function expectWhole(letter: PrintedLetter): void {
  const isRefused = letter.destinationId === refused.destinationId;
  const [route, status] = isRefused ? [refused, 401] : [expired, 503];
  expect([letter.reason, letter.reasonClass]).toEqual(
    isRefused ? ["rejected_by_receiver", "configuration"] : ["window_expired", "receiver"],
  );
  expect(letter).toMatchObject({ event: "Ordered", userKey: `user-of-${letter.messageId}` });
  expect(letter.body).toMatchObject({ event: "Ordered", userId: letter.userKey });
  expect(letter.headers).toMatchObject({
    reason: letter.reason,
    "reason-class": letter.reasonClass,
    "destination-id": letter.destinationId,
    "source-id": route.sourceId,
    "message-id": letter.messageId,
    "user-key": letter.userKey,
    type: "track",
    event: "Ordered",
    attempts: String(letter.attempts),
    "dead-at-ms": String(letter.deadAtMs),
    "first-attempt-at-ms": String(letter.firstAttemptAtMs),
    "origin-topic": installation.names.events,
    "origin-partition": String(letter.originPartition),
    "origin-offset": String(letter.originOffset),
    statuses: String(status),
  });
  expect(letter.history.length).toBe(letter.attempts);
  expect(letter.history.map(({ attempt }) => attempt)).toEqual(letter.history.map((_, index) => index + 1));
  const moments = letter.history.map(({ startedAtMs }) => startedAtMs);
  expect(moments).toEqual(moments.toSorted((a, b) => a - b));
  expect(moments[0]).toBe(letter.firstAttemptAtMs);
  for (const { urls } of letter.history) {
    expect(urls).toMatchObject([{ url: `${receiver.url}${route.path}`, status }]);
  }
}

/** Those with the numbers from `first` to before `end`. */
async function sendMany(route: Route, first: number, end: number): Promise<void> {
  const calls = Array.from({ length: end - first }, (_, index) => {
    const messageId = `${route.path}-${first + index}`;
    return { type: "track", event: "Ordered", userId: `user-of-${messageId}`, messageId };
  });
  for (let from = 0; from < calls.length; from += BATCH) {
    const batch = calls.slice(from, from + BATCH);
    expect(await sendBatch(installation.system.ingestUrl, route.writeKey, batch)).toBe(200);
  }
}

/** What the page tells to install, each with its version. */
async function requirements(): Promise<readonly string[]> {
  const blocks = (await readFile(new URL(`../../${PAGE}`, import.meta.url), "utf8")).matchAll(/pip install ([^\n]+)/g);
  const words = [...blocks].flatMap(([, rest = ""]) => rest.split(" ")).map((word) => word.replaceAll("'", ""));
  expect(words.every((word) => word.includes("=="))).toBe(true);
  return [...new Set(words)].sort();
}

async function runPython(program: string): Promise<readonly string[]> {
  if ("missing" in python) throw new Error(python.missing);
  const { stdout } = await run(python.path, ["-c", program], { env: exampleEnvironment(), ...MAX_OUTPUT });
  return stdout.trim().split("\n");
}

type Row = Readonly<Record<string, unknown>>;

/** The rows that DuckDB answers. */
async function runQuery(sql: string): Promise<readonly Row[]> {
  if ("missing" in python) throw new Error(python.missing);
  const program = `import duckdb, json, sys
relation = duckdb.sql(sys.argv[1])
print(json.dumps([dict(zip(relation.columns, row)) for row in relation.fetchall()], default=str))`;
  const { stdout } = await run(python.path, ["-c", program, sql], { cwd: folder, ...MAX_OUTPUT });
  return JSON.parse(stdout) as readonly Row[];
}

async function runShell(line: string): Promise<readonly string[]> {
  if ("missing" in kcat) throw new Error(kcat.missing);
  const kcatPath = kcat.path;
  const program = `kcat() { '${kcatPath}' "$@"; }\n${line}`;
  const { stdout } = await run("sh", ["-c", program], { env: exampleEnvironment(), ...MAX_OUTPUT });
  return stdout.trim().split("\n");
}

function ofThisTopic(code: string): string {
  return code.replaceAll("posthaste.dead-letters", installation.names.deadLetters);
}

/** What the examples read their places from. */
function exampleEnvironment(): NodeJS.ProcessEnv {
  const { brokers, schemaRegistry } = installation.system.stack;
  return {
    ...process.env,
    KAFKA_BROKERS: brokers.join(","),
    SCHEMA_REGISTRY_URL: schemaRegistry,
    APICURIO_URL: schemaRegistry.replace(/ccompat\/v7$/, "registry/v2"),
    TOPIC: installation.names.deadLetters,
    POSTHASTE_ADMIN_TOKEN: installation.system.adminToken,
  };
}
