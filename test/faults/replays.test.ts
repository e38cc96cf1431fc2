/**
 * Two control processes beside each other. A replay whose process is killed in the middle, while new dead letters come:
 * another goes on, every planned dead letter is delivered and no other, and the repeats are bounded (RP1, RP3 and RP4
 * of core's `replay.ts`). Changes of the configuration at both at once end equal everywhere.
 */
import type { Delivery } from "@posthaste/core/delivery/delivery";
import { REPLAY_BATCH } from "@posthaste/core/replay/replay";
import { type ControlClient, createControlClient } from "@posthaste/local-stack/control-client";
import { findFreePorts } from "@posthaste/local-stack/ports";
import type { StackProcess } from "@posthaste/local-stack/stack-process";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sendOne } from "../e2e/calls.ts";
import { readTopic } from "../e2e/read-topic.ts";
import { createRoute, type Route } from "../e2e/route.ts";
import { installation, receiver, useInstallation } from "../e2e/use-installation.ts";
import { writeDeadLetters } from "../e2e/write-dead-letters.ts";
import { type Ask, changeConfig } from "./config-changes.ts";
import { explainArrivals } from "./explained-arrivals.ts";
import { foldTopic } from "./folded-topic.ts";
import { isLong, printSeed } from "./form.ts";

const DEAD_LETTERS = isLong ? 100_000 : 1500;
/** So that ten seconds and more are left when its process is killed, however the machine stands meanwhile. */
const RATE = isLong ? 2000 : 125;
/** Of a replay that is to be cancelled, which need not come to its end: a minute and more of it. */
const SLOW_RATE = isLong ? 500 : 20;
/** The dead letters that come while the replay runs. */
const LATE = 500;
/** Of the configuration. */
const CHANGES = isLong ? 10_000 : 150;
/** A killed member is missed after ten seconds; the rest is the machine's. */
const PATIENCE = { timeoutMs: isLong ? 180_000 : 90_000, intervalMs: 20 };
/** Of one test: writing, counting, and sending at its rate. */
const TEST_MS = isLong ? 420_000 : 180_000;

interface Control {
  readonly process: StackProcess;
  readonly client: ControlClient;
  readonly metricsUrl: string;
  readonly ask: Ask;
}

interface ReplayAnswer {
  readonly id: string;
  readonly plan: string;
  readonly state: string;
  readonly matched: number;
  readonly replayed: number;
  readonly takeovers: number;
  readonly endedAt: string | null;
}

let controls: readonly [Control, Control];
const arrivedAtMs: number[] = [];
/** How often each message came. */
const arrivals = new Map<string, number>();

useInstallation({
  onRequest: ({ headers }) => {
    const messageId = headers["x-message-id"] ?? "";
    arrivedAtMs.push(performance.now());
    arrivals.set(messageId, (arrivals.get(messageId) ?? 0) + 1);
  },
});

beforeAll(async () => {
  const { system } = installation;
  const [adminPort = 0, controlPort = 0] = await findFreePorts(2);
  const second = system.another("control", { adminPort, controlPort });
  await second.start();
  controls = [
    {
      process: system.process("control"),
      client: installation.control,
      metricsUrl: system.metricsUrls.control,
      ask: askOf(system.controlUrl, system.adminToken),
    },
    {
      process: second,
      client: createControlClient(`http://127.0.0.1:${controlPort}`, system.adminToken),
      metricsUrl: `http://127.0.0.1:${adminPort}/metrics`,
      ask: askOf(`http://127.0.0.1:${controlPort}`, system.adminToken),
    },
  ];
  await untilJoined(controls[1]);
  await eventually(() => controls[1].client.call("GET", "/v1/sources"), PATIENCE);
});

afterAll(async () => {
  await controls[1].process.stop();
});

const write = (route: Route, name: string, count: number): Promise<void> =>
  writeDeadLetters(installation, { ...route, name, count });

/** With its join the partition may go from one to the other, and from then on it stays. */
async function untilJoined({ metricsUrl }: Control): Promise<void> {
  const joined = /^posthaste_rebalances_total\{group="[^"]*control\.replays"\} [1-9]/m;
  await eventually(async () => expect(await (await fetch(metricsUrl)).text()).toMatch(joined), PATIENCE);
}

/** Of the two control processes the one that runs replays: it alone shows the partition's lag. */
async function findRunner(): Promise<readonly [Control, Control]> {
  return await eventually(async () => {
    for (const [index, control] of controls.entries()) {
      const page = await (await fetch(control.metricsUrl)).text();
      if (page.includes(`posthaste_consumer_lag_records{topic="${installation.names.replays}"`)) {
        return index === 0 ? controls : [controls[1], controls[0]];
      }
    }
    throw new Error("nobody has the partition");
  }, PATIENCE);
}

/** Requests a second, where they came steadily: between the first and the last of these. */
function rateOf(fromMs: number, toMs: number): number {
  const within = arrivedAtMs.filter((atMs) => atMs >= fromMs && atMs <= toMs);
  return ((within.length - 1) * 1000) / ((within.at(-1) ?? 0) - (within[0] ?? 0));
}

async function planOf(client: ControlClient, route: Route, ratePerSecond: number): Promise<ReplayAnswer> {
  const body = { destinationId: route.destinationId, dryRun: true, ratePerSecond };
  return (await eventually(() => client.call("POST", "/v1/replays", body), PATIENCE)) as ReplayAnswer;
}

it(
  "is gone on with by another: all that was planned is delivered, nothing else, and a batch at the most goes twice",
  async () => {
    const route = await createRoute(installation, receiver, "/replayed");
    await write(route, "planned", DEAD_LETTERS);
    const [runner, other] = await findRunner();
    const plan = await planOf(other.client, route, RATE);
    expect(plan.matched).toBe(DEAD_LETTERS);
    await write(route, "late", LATE);
    const { id } = (await other.client.call("POST", "/v1/replays", { plan: plan.plan })) as ReplayAnswer;
    const late = write(route, "later", LATE);
    // The sent ones, not the arrived ones: where delivery is slower than the replay nothing would be left to take over.
    await eventually(async () => {
      const { replayed } = (await other.client.call("GET", `/v1/replays/${id}`)) as ReplayAnswer;
      expect(replayed).toBeGreaterThan(DEAD_LETTERS * 0.1);
    }, PATIENCE);
    const killedAtMs = performance.now();
    await runner.process.kill();
    await late;

    const done = await eventually(async () => {
      const replay = (await other.client.call("GET", `/v1/replays/${id}`)) as ReplayAnswer;
      expect(replay.endedAt).not.toBeNull();
      return replay;
    }, PATIENCE);
    expect(done).toMatchObject({ state: "done", matched: DEAD_LETTERS, replayed: DEAD_LETTERS, takeovers: 1 });
    await eventually(() => expect(arrivals.size).toBe(DEAD_LETTERS), PATIENCE);
    expect([...arrivals.keys()].filter((messageId) => !messageId.startsWith("planned-"))).toEqual([]);
    const again = new Map(
      [...arrivals].map(([id, times]) => [id, times - 1] as const).filter(([, times]) => times > 0),
    );
    // Without the repeats whose answer took too long.
    const seen = { repeats: again, late: new Set<string>() };
    const { repeated: repeats } = await explainArrivals(seen, installation.system.stack, installation.names);
    expect(repeats).toBeLessThanOrEqual(REPLAY_BATCH);
    const resumedAtMs = arrivedAtMs.find((atMs) => atMs > killedAtMs + 5000) ?? Number.NaN;
    const endMs = arrivedAtMs.at(-1) ?? 0;
    const rates = { before: rateOf(0, killedAtMs), after: rateOf(resumedAtMs, endMs) };
    tell({ letters: DEAD_LETTERS, repeats, askedRate: RATE, rates, takenOverAfterMs: resumedAtMs - killedAtMs });
    if (isLong) for (const rate of Object.values(rates)) expect(Math.abs(rate - RATE)).toBeLessThanOrEqual(RATE * 0.05);
    await runner.process.start();
    await eventually(() => runner.client.call("GET", "/v1/replays"), PATIENCE);
    await untilJoined(runner);
  },
  TEST_MS,
);

it(
  "is cancelled, by a process that does not run it, and says how many went",
  async () => {
    const route = await createRoute(installation, receiver, "/cancelled");
    await write(route, "cancelled", DEAD_LETTERS);
    const [, other] = await findRunner();
    const { plan } = await planOf(other.client, route, SLOW_RATE);
    await other.client.call("POST", "/v1/replays", { plan });
    await eventually(() => expect(receiver.requestsTo(route.path).length).toBeGreaterThan(SLOW_RATE / 2), PATIENCE);
    const askedAtMs = performance.now();
    await other.client.call("POST", `/v1/replays/${plan}/cancel`);
    // That is answered after two seconds, also where its runner has not come to it by then.
    const cancelled = await eventually(async () => {
      const replay = (await other.client.call("GET", `/v1/replays/${plan}`)) as ReplayAnswer;
      expect(replay).toMatchObject({ state: "cancelled", endedAt: expect.any(String) });
      return replay;
    }, PATIENCE);
    const tookMs = performance.now() - askedAtMs;
    const arrivedOnes = () => new Set(messageIdsTo(route.path)).size;
    await eventually(() => expect(arrivedOnes()).toBe(cancelled.replayed), PATIENCE);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(arrivedOnes()).toBe(cancelled.replayed);
    tell({ cancelledAfterMs: tookMs, replayed: cancelled.replayed });
  },
  TEST_MS,
);

it(
  `is asked, beside the other, for ${CHANGES} changes of the configuration: all end equal at both and in every service`,
  async () => {
    const { system, names } = installation;
    const seed = printSeed("replays");
    const asks = controls.map(({ ask }) => ask);
    const begunAtMs = performance.now();
    const { writeKeys, answers } = await changeConfig({
      ...{ controls: asks, changes: CHANGES, seed },
      urlBase: `${receiver.url}/changed`,
    });
    const tookMs = performance.now() - begunAtMs;
    const last = await addLastDestination(asks);

    // Both controls' lists, and the topics as anybody folds them.
    const [sources, destinations] = await eventually(async () => {
      const [ofOne, ofOther] = await Promise.all(asks.map(listsOf));
      expect(ofOther).toEqual(ofOne);
      if (ofOne === undefined) throw new Error("no control");
      for (const [index, topic] of [names.sourceConfig, names.destinationConfig, names.tokens].entries()) {
        const folded = await foldTopic(system.stack.brokers, topic);
        expect(folded.last).toEqual(folded.newest);
        expect([...folded.last.keys()].filter(isListed).toSorted()).toEqual(ofOne[index]?.map(({ id }) => id));
        for (const { id, revision } of ofOne[index] ?? []) {
          if (revision !== undefined) expect(folded.last.get(id)).toBe(revision);
        }
      }
      return ofOne;
    }, PATIENCE);
    expect(destinations.map(({ id }) => id)).toContain(last);

    // Ingest's table by which keys it takes; the router's and delivery's by where an event of each source goes.
    // Sources of the tests before this one have keys that are not known here.
    const open = new Set(sources.filter(({ id, enabled }) => enabled && writeKeys.has(id)).map(({ id }) => id));
    const known = [...writeKeys].filter(([id]) => open.has(id)).concat([...writeKeys].slice(-50));
    let round = 0;
    const sent = await eventually(async () => {
      round += 1;
      const idOf = (sourceId: string) => `${round}-${sourceId}`;
      const taken = await Promise.all(
        known.map(async ([id, key]) => {
          const call = { type: "track", userId: "user", event: "Changed", messageId: idOf(id) };
          return [id, (await sendOne(system.ingestUrl, key, call)) === 200] as const;
        }),
      );
      expect(taken.filter(([id, isTaken]) => isTaken !== open.has(id))).toEqual([]);
      const wanted = [...open].map(idOf).toSorted();
      await eventually(() => expect(messageIdsTo("/changed/last")).toEqual(expect.arrayContaining(wanted)));
      return new Map([...open].map((id) => [id, idOf(id)]));
    }, PATIENCE);
    const expected = destinations
      .filter(({ enabled }) => enabled)
      .flatMap(({ id, sourceIds = [], settings }) =>
        sourceIds
          .filter((each) => open.has(each))
          .map((each) => ({ id, messageId: sent.get(each), path: new URL(settings?.urls[0]?.url ?? "").pathname })),
      );
    const messageIds = new Set(sent.values());
    await eventually(() => {
      const arrived = receiver.requests.map(({ path, headers }) => `${headers["x-message-id"]} ${path}`);
      const ofRound = new Set(arrived.filter((each) => messageIds.has(each.split(" ")[0] ?? "")));
      expect(ofRound).toEqual(new Set(expected.map(({ messageId, path }) => `${messageId} ${path}`)));
    }, PATIENCE);
    const routed = await readTopic<Delivery>({
      ...{ brokers: system.stack.brokers, schemaRegistry: system.stack.schemaRegistry, names },
      ...{ topic: names.deliveries, schema: "delivery" },
    });
    const pairs = routed
      .filter(({ messageId }) => messageIds.has(messageId))
      .map(({ messageId, destinationId }) => `${messageId} ${destinationId}`);
    expect(new Set(pairs)).toEqual(new Set(expected.map(({ messageId, id }) => `${messageId} ${id}`)));
    tell({ changes: CHANGES, seed, tookMs, answers, sources: sources.length, destinations: destinations.length });
  },
  TEST_MS,
);

interface Listed {
  readonly id: string;
  /** Tokens have none. */
  readonly revision?: number;
  readonly enabled?: boolean;
  readonly sourceIds?: readonly string[];
  readonly settings?: { readonly urls: readonly { readonly url: string }[] };
}

/** Links and sessions stand beside tokens, and are in no list. */
const isListed = (id: string): boolean => !/^(lnk|ses|link|session)/.test(id);

const messageIdsTo = (path: string) => receiver.requestsTo(path).map(({ headers }) => headers["x-message-id"]);

/**
 * After everything: a process that has it has all earlier changes. It gets the events of every source. Returns its id.
 */
async function addLastDestination([one, other]: readonly Ask[]): Promise<string> {
  if (one === undefined || other === undefined) throw new Error("no two controls");
  // Each control knows at once its own changes, so lists that are equal have all of both.
  const sourceIds = await eventually(async () => {
    const [ofOne, ofOther] = await Promise.all([one, other].map((ask) => listAll(ask, "/v1/sources")));
    expect(ofOther).toEqual(ofOne);
    return (ofOne ?? []).map(({ id }) => id);
  }, PATIENCE);
  const settings = { sharedSecret: "the last one's secret", urls: [{ url: `${receiver.url}/changed/last` }] };
  const body = { type: "Webhooks", name: "last", sourceIds, enabled: true, settings };
  const answer = await other("POST", "/v1/destinations", body);
  expect(answer.status).toBe(201);
  return answer.body.id;
}

async function listsOf(ask: Ask): Promise<readonly [readonly Listed[], readonly Listed[], readonly Listed[]]> {
  return [await listAll(ask, "/v1/sources"), await listAll(ask, "/v1/destinations"), await listAll(ask, "/v1/tokens")];
}

/** The list of one control, page by page. */
async function listAll(ask: Ask, path: string): Promise<readonly Listed[]> {
  const all: Listed[] = [];
  let cursor: string | null = null;
  do {
    const { body } = await ask("GET", `${path}?limit=200${cursor === null ? "" : `&cursor=${cursor}`}`);
    all.push(...body.data);
    cursor = body.nextCursor;
  } while (cursor !== null);
  return all.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function askOf(baseUrl: string, adminToken: string): Ask {
  return async (method, path, body) => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${adminToken}`, ...(body ? { "content-type": "application/json" } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
  };
}

/** The long form's figures, for readers who want more than a pass. */
function tell(figures: object): void {
  if (isLong) process.stdout.write(`${JSON.stringify(figures)}\n`);
}
