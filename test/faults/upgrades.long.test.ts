/**
 * An earlier release's services beside this one's, under load, in every mix of the two: one service at a time is
 * exchanged, and sixteen exchanges meet each of the sixteen mixes once. So every order of an upgrade, and every way
 * back from it, is a part of the walk.
 *
 * In each mix control makes a source and a destination, an event of them arrives, deliveries that failed once come
 * again, one of a dead receiver dies, and the load goes on. At the end nothing that was acknowledged is lost.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { findFreePorts } from "@posthaste/local-stack/ports";
import { scratchFolder } from "@posthaste/local-stack/scratch-folder";
import { SERVICE_NAMES, type ServiceName, SOURCES } from "@posthaste/local-stack/services";
import type { StackProcess } from "@posthaste/local-stack/stack-process";
import { eventually } from "@posthaste/testkit/eventually";
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { afterAll, beforeAll, expect, it } from "vitest";
import { callsOf, sendBatch } from "../e2e/calls.ts";
import { type Installation, startInstallation } from "../e2e/installation.ts";
import { createArrivals } from "./arrivals.ts";
import { findEarlierRelease, unpackRelease } from "./earlier-release.ts";
import { explainArrivals } from "./explained-arrivals.ts";
import { type Load, startLoad } from "./load.ts";
import { printWithLoad, toTable } from "./table.ts";

const EVENTS_PER_SECOND = 100;
/** Of the load's events, each of whose number this divides fails at its first attempt. */
const FAILS_ONCE_EVERY = 10;
const ARRIVAL = { timeoutMs: 120_000, intervalMs: 100 };
const SETTINGS = { POSTHASTE_RETRY_SCHEDULE: "1s,2s" };
/** The mixes by their numbers, a bit for each service of this release, so that two in a row differ by one service. */
const MIXES = [...Array.from({ length: 16 }, (_, step) => step ^ (step >> 1)), 0];

const earlier = findEarlierRelease();
if ("missing" in earlier) process.stdout.write(`skipped: upgrades: ${earlier.missing} may name a commit\n`);
else process.stdout.write(`upgrades: the earlier release is ${earlier.commit} ${earlier.subject}\n`);

let folder: string;
let installation: Installation;
let receiver: Receiver;
/** The processes in the places of those that the installation began with. */
const running = new Map<ServiceName, StackProcess>();

beforeAll(async () => {
  if ("missing" in earlier) return;
  folder = await mkdtemp(join(scratchFolder(process.env), "posthaste-earlier-"));
  await unpackRelease(earlier.commit, folder);
  [installation, receiver] = await Promise.all([
    startInstallation({ settings: SETTINGS, sources: folder }),
    startReceiver(),
  ]);
});

afterAll(async () => {
  if ("missing" in earlier) return;
  await Promise.all([...running.values()].map((each) => each.stop()));
  await installation.close();
  await receiver.close();
  await rm(folder, { recursive: true, force: true });
});

it.skipIf("missing" in earlier)(
  "every mix of two releases' services delivers all that was acknowledged",
  async () => {
    const { system, names, unexpectedExits } = installation;
    const dead = await openRoute("/dead");
    receiver.script("/dead", { status: 503 });
    const { writeKey } = await openRoute("/mixes");
    const arrivals = createArrivals({ only: "mixes/" });
    receiver.script("/mixes", (request) => {
      const { sequence } = JSON.parse(request.body.toString("utf8")).properties ?? {};
      const isFirst = request.headers["x-attempt"] === "1";
      if (sequence % FAILS_ONCE_EVERY === 0 && isFirst) return { status: 503 };
      if (sequence !== undefined) arrivals.record(request);
      return {};
    });
    const load = startLoad({
      ingestUrl: system.ingestUrl,
      writeKey,
      eventsPerSecond: EVENTS_PER_SECOND,
      name: "mixes",
    });
    const rows: (readonly (string | number)[])[] = [];
    await system.makeTopics({}, SOURCES);
    for (const [step, mix] of MIXES.entries()) {
      const fromMs = performance.now();
      const repeatedBefore = arrivals.repeated();
      const exchanged = SERVICE_NAMES.find((_, bit) => ((mix ^ (MIXES[step - 1] ?? mix)) >> bit) & 1);
      if (exchanged) await exchange(exchanged, isThisRelease(mix, exchanged));
      await openRoute(`/mix-${step}`);
      await send(dead.writeKey, `dead-${step}`);
      await eventually(() => expect(missing(load, arrivals.has)).toBeLessThan(EVENTS_PER_SECOND), ARRIVAL);
      const gapMs = Math.round(arrivals.deliveries.longestGapMs(fromMs, performance.now()));
      const newer = SERVICE_NAMES.filter((name) => isThisRelease(mix, name)).join(", ") || "none";
      rows.push([exchanged ?? "–", newer, arrivals.delivered(), arrivals.repeated() - repeatedBefore, gapMs]);
    }
    await load.stop();
    await eventually(() => expect(missing(load, arrivals.has)).toBe(0), ARRIVAL);
    await eventually(
      async () =>
        expect(await deadLetters(dead.destinationId)).toEqual(
          expect.arrayContaining(MIXES.map((_, step) => `dead-${step}-0`)),
        ),
      ARRIVAL,
    );
    printWithLoad(toTable(["exchanged", "of this release", "delivered so far", "repeated", "longest gap ms"], rows));
    const { repeated, disordered } = await explainArrivals(arrivals, system.stack, names);
    expect({ repeated, disordered, unexpectedExits }).toEqual({ repeated: 0, disordered: 0, unexpectedExits: [] });
  },
  15 * 60_000,
);

const isThisRelease = (mix: number, name: ServiceName) => ((mix >> SERVICE_NAMES.indexOf(name)) & 1) === 1;

/** The router and delivery join their group before the other leaves; ingest and control have a port to hand over. */
async function exchange(name: ServiceName, isNew: boolean): Promise<void> {
  const { system } = installation;
  const before = running.get(name) ?? system.process(name);
  const [adminPort = 0] = await findFreePorts(1);
  const next = system.another(name, { adminPort, sources: isNew ? SOURCES : folder });
  running.set(name, next);
  if (name === "ingest" || name === "control") {
    await before.stop();
    await next.start();
  } else {
    await next.start();
    await before.stop();
  }
}

/** Makes a source and a destination at a path, and answers when an event has gone that way. */
async function openRoute(path: string): Promise<{ readonly writeKey: string; readonly destinationId: string }> {
  const { control } = installation;
  // A control that was started a moment ago reads its tables first.
  const source = await eventually(() => control.createSource(`source of ${path}`), ARRIVAL);
  const destinationId = await control.createDestination({
    name: `destination ${path}`,
    sourceIds: [source.id],
    urls: [`${receiver.url}${path}`],
    sharedSecret: `the-shared-secret-of-${path}`,
  });
  let sent = 0;
  await eventually(async () => {
    await sendBatch(installation.system.ingestUrl, source.writeKey, callsOf(`first of ${path}`, sent++, 1));
    expect(receiver.requestsTo(path).length).toBeGreaterThan(0);
  }, ARRIVAL);
  return { writeKey: source.writeKey, destinationId };
}

const send = (writeKey: string, name: string) =>
  eventually(
    async () => expect(await sendBatch(installation.system.ingestUrl, writeKey, callsOf(name, 0, 1))).toBe(200),
    ARRIVAL,
  );

async function deadLetters(destinationId: string): Promise<readonly string[]> {
  const answer = await installation.control.call("GET", `/v1/dead-letters?destinationId=${destinationId}&limit=200`);
  return (answer as { readonly data: readonly { readonly messageId: string }[] }).data.map(
    ({ messageId }) => messageId,
  );
}

function missing(load: Load, has: (messageId: string) => boolean): number {
  return [...load.acknowledged].filter((messageId) => !has(messageId)).length;
}
