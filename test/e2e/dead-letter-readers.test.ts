/**
 * The examples of docs/dead-letters.md, as a data engineer would copy them, over the dead letters of a real run: some
 * that are refused, and some that a receiver is down for until their window ends. With POSTHASTE_LONG they are 10,000,
 * and the example in Java runs too. Where an engine is missing its tests are skipped, with the reason printed.
 *
 * An engine's output is held to the topic's content as our own reader reads it. On a busy machine some have another
 * reason than the meant one: a refused one has the reason `window_expired` where nothing came back in time.
 *
 * The installation has traces, so that the same run shows theirs.
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
import { startOtlpReceiver } from "@posthaste/testkit/otlp-receiver";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isLong } from "../faults/form.ts";
import { sendBatch } from "./calls.ts";
import { readDeadLetters } from "./dead-letters.ts";
import {
  answersOfAttempts,
  countLines,
  countsOf,
  expectMeant,
  expectWhole,
  inOrder,
  type PrintedDeadLetter,
  type Row,
  rowOf,
  toMend,
} from "./expected-dead-letters.ts";
import { blocksUnder } from "./page-blocks.ts";
import { providePython } from "./python.ts";
import { countRecords } from "./read-topic.ts";
import { createRoute, type Route } from "./route.ts";
import { expectReplaysTraced, expectTraced } from "./traced-deliveries.ts";
import { installation, receiver, useOwnInstallation } from "./use-installation.ts";

const PAGE = "docs/dead-letters.md";
const REFUSED = isLong ? 9_000 : 270;
const EXPIRED = isLong ? 1_000 : 30;
const FEW = 3;
const BATCH = 250;
const ARRIVAL = { timeoutMs: 60_000 };

const run = promisify(execFile);
const CLI = fileURLToPath(new URL("../../packages/cli/bin/posthaste.mjs", import.meta.url));
const MAX_OUTPUT = { maxBuffer: 64 * 1024 * 1024 };
/** For programs that are over in seconds: no second compiler, and no threads for garbage collection. */
const JAVA_FLAGS = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

const [kcat, python] = await Promise.all([provideProgram(KCAT, process.env), providePython(await requirements())]);
for (const found of [kcat, python]) {
  if ("missing" in found) process.stdout.write(`examples of dead letters are skipped: ${found.missing}\n`);
}
if (!isLong) process.stdout.write("the example of dead letters in Java is skipped: npm run test:long runs it\n");

let refused: Route;
let expired: Route;
/** The content of the topic. */
let deadLetters: readonly DeadLetter[];
let folder: string;

const collector = await startOtlpReceiver();
const TRACES = {
  POSTHASTE_TRACES: "true",
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_BSP_SCHEDULE_DELAY: "200",
  OTEL_BSP_MAX_QUEUE_SIZE: "100000",
};

// Four hours in ten seconds.
useOwnInstallation({ settings: { POSTHASTE_RETRY_SCHEDULE: "1s,1s,2s", POSTHASTE_RETRY_WINDOW: "10s", ...TRACES } });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "posthaste-examples-"));
  [refused, expired] = await Promise.all([
    createRoute(installation, receiver, "/unauthorised"),
    createRoute(installation, receiver, "/down"),
  ]);
  receiver.script(refused.path, { status: 401 });
  receiver.script(expired.path, { status: 503 });
  // A few first, which are tried again before so many fail that the others are deferred.
  const sent = await sendUntilTriedAgain(expired);
  await sendMany(expired, sent, EXPIRED);
  await sendMany(refused, 0, REFUSED);
  const { system, names } = installation;
  const stored = () => readDeadLetters({ ...system.stack, names });
  await eventually(
    async () => {
      expect(await countRecords(system.stack.brokers, names.deadLetters)).toBeGreaterThanOrEqual(REFUSED + EXPIRED);
      expect(new Set((await stored()).map(({ messageId }) => messageId))).toEqual(idsSent());
    },
    { timeoutMs: 240_000, intervalMs: 500 },
  );
  // Nothing comes to them from then on.
  await system.process("delivery").stop();
  deadLetters = await stored();
}, 600_000);

afterAll(async () => {
  await collector.close();
  await rm(folder, { recursive: true, force: true });
});

it("every event of a receiver that refuses, or fails for the window, has a dead letter that says why", () => {
  for (const [{ destinationId, path }, status] of [
    [refused, 401],
    [expired, 503],
  ] as const) {
    const found = deadLetters.filter((each) => each.destinationId === destinationId);
    for (const deadLetter of found) expectMeant(deadLetter, { url: `${receiver.url}${path}`, status });
  }
});

describe.skipIf("missing" in python)("in Python", () => {
  it("each dead letter is decoded, with its class, its headers and its history", async () => {
    const lines = await runPython((await blocksUnder(PAGE, "In Python", "python")).join("\n"));
    const printed = inOrder(lines.map((line) => JSON.parse(line) as PrintedDeadLetter));
    expect(printed).toHaveLength(deadLetters.length);
    for (const [index, deadLetter] of inOrder(deadLetters).entries())
      expectWhole(printed[index], deadLetter, installation.names.events);
    const ofExpired = printed.filter(({ destinationId }) => destinationId === expired.destinationId);
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
    const [losses = [], attempts = [], users = []] = await Promise.all(queries.map(runQuery));
    expect(losses.map((row) => row["letters"])).toEqual(falling(losses.map((row) => row["letters"])));
    const lossLine = ({ destinationId, reasonClass, reason, answer, letters: count }: Row) =>
      [destinationId, reasonClass, reason, answer, count].join(" ");
    expect(new Set(losses.map(lossLine))).toEqual(toMend(deadLetters));
    const attemptLine = ({ destinationId, attempt, answer, times }: Row) =>
      [destinationId, attempt, answer, times].join(" ");
    expect(new Set(attempts.map(attemptLine))).toEqual(answersOfAttempts(deadLetters));
    expect(users).toHaveLength(20);
    const missed = falling([...countsOf(deadLetters.map(({ userKey }) => userKey)).values()]);
    expect(users.map((row) => row["missed"])).toEqual(missed.slice(0, 20));
    expect(users[0]).toMatchObject({ events: ["Ordered"], types: ["track"] });
  });

  it("each row of the exported Parquet is a record of the topic, column by column", async () => {
    const times = ["time", "receivedAt", "firstAttemptAt", "windowStart"];
    const asMs = times.map((name) => `epoch_ms(${name}) AS ${name}`).join(", ");
    const rows = await runQuery(`SELECT * REPLACE (${asMs}) FROM 'letters.parquet'`);
    const keyOf = (row: Row) => `${row["messageId"]} ${row["time"]}`;
    const expected = new Map(deadLetters.map(rowOf).map((row) => [keyOf(row), row]));
    expect(rows).toHaveLength(deadLetters.length);
    for (const { place: _, ...row } of rows) expect(row).toEqual(expected.get(keyOf(row)));
    expect(new Set(rows.map(({ place }) => place)).size).toBe(deadLetters.length);
  });
});

describe.skipIf("missing" in kcat)("with kcat", () => {
  it("the headers alone tell the class of a dead letter, and count by destination and reason", async () => {
    const [filter = "", count = ""] = (await blocksUnder(PAGE, "With kcat", "sh")).map(ofThisTopic);
    expect(await runShell(filter)).toHaveLength(
      deadLetters.filter(({ reasonClass }) => reasonClass === "configuration").length,
    );
    const counts = (await runShell(count)).map((line) => line.trim().split(/\s+/));
    expect(counts.map(([number]) => Number(number))).toEqual(falling(counts.map(([number]) => Number(number))));
    expect(new Set(counts.map(([number, ...words]) => [...words, number].join(" ")))).toEqual(
      countLines(deadLetters.map(({ destinationId, reason }) => [destinationId, reason])),
    );
  });
});

// Maven's and the compiler's start take ten times as long as their lesson.
describe.runIf(isLong)("in Java", () => {
  it("a hundred dead letters and more of each partition are decoded by the deserializer of Maven Central", async () => {
    const [pom = ""] = await blocksUnder(PAGE, "In Java", "xml");
    const [program = ""] = await blocksUnder(PAGE, "In Java", "java");
    await writeFile(join(folder, "pom.xml"), pom);
    await writeFile(join(folder, "DeadLetters.java"), program);
    const env = { ...exampleEnvironment(), MAVEN_OPTS: JAVA_FLAGS.join(" ") };
    const options = { cwd: folder, env, ...MAX_OUTPUT };
    await run("mvn", ["-q", "-B", "dependency:build-classpath", "-Dmdep.outputFile=classpath"], options);
    const classpath = await readFile(join(folder, "classpath"), "utf8");
    const { stdout } = await run("java", [...JAVA_FLAGS, "-cp", classpath.trim(), "DeadLetters.java"], options);
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => line.split("\t"));
    expect(lines.length).toBeGreaterThanOrEqual(100);
    const stored = new Map(deadLetters.map((deadLetter) => [deadLetter.messageId, deadLetter]));
    for (const [messageId = "", reason, reasonClass, userKey, history = ""] of lines) {
      const deadLetter = stored.get(messageId);
      expect([reason, reasonClass, userKey]).toEqual([
        deadLetter?.reason,
        deadLetter?.reasonClass,
        `user-of-${messageId}`,
      ]);
      expect(history).toContain(`"status": ${deadLetter?.history.at(-1)?.urls[0]?.status}`);
    }
  });
});

describe("a trace", () => {
  it("leads from each call to each of its attempts, and has no URL, body or secret", async () => {
    await eventually(() => expectTraced(collector.spans, deadLetters), { timeoutMs: 30_000 });
    const sent = collector.requests.join("\n");
    const known = [receiver.url, "user-of-", refused.writeKey, refused.sharedSecret, expired.sharedSecret];
    expect(known.filter((text) => sent.includes(text))).toEqual([]);
  });

  it("begins with a replay, and links to the one before", async () => {
    const { destinationId } = expired;
    await installation.control.call("POST", "/v1/replays", { destinationId });
    const ofExpired = deadLetters.filter((each) => each.destinationId === destinationId);
    await eventually(() => expectReplaysTraced(collector.spans, ofExpired.length), { timeoutMs: 30_000 });
  });
});

const idsOf = ({ path }: Route, count: number) => Array.from({ length: count }, (_, index) => `${path}-${index}`);
const idsSent = () => new Set([...idsOf(refused, REFUSED), ...idsOf(expired, EXPIRED)]);

const falling = (numbers: readonly unknown[]) => numbers.toSorted((a, b) => Number(b) - Number(a));

/** Sends a few, and a few more where those had their window's end before they were tried again; returns how many. */
async function sendUntilTriedAgain(route: Route): Promise<number> {
  for (let sent = FEW; ; sent += FEW) {
    await sendMany(route, sent - FEW, sent);
    const wasTriedAgain = await eventually(async () => {
      const attempts = receiver.requestsTo(route.path).map(({ headers }) => headers["x-attempt"]);
      if (attempts.includes("2")) return true;
      const { system, names } = installation;
      expect(await countRecords(system.stack.brokers, names.deadLetters)).toBe(sent);
      return false;
    }, ARRIVAL);
    if (wasTriedAgain) return sent;
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
    // A record that is sent twice is dropped by its message id.
    await eventually(
      async () => expect(await sendBatch(installation.system.ingestUrl, route.writeKey, batch)).toBe(200),
      ARRIVAL,
    );
  }
}

/** The packages that the page has installed, each with its version. */
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

/** The variables that the examples read their places from. */
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
