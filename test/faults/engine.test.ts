/**
 * The delivery process is killed at random moments under load and started again at once: nothing is lost, and only
 * in-flight deliveries, deliveries that finished since the last commit (C1), and deliveries that failed by its five
 * seconds, as the attempt log says, are sent again.
 *
 * In `npm test` 2 kills in 1,500 events; with POSTHASTE_LONG (`npm run test:long -- test/faults/engine`) 20 kills in
 * 50,000.
 */
import { eventually } from "@posthaste/testkit/eventually";
import { createRandom, wholeBetween } from "@posthaste/testkit/random";
import { expect, it } from "vitest";
import type { Place } from "../e2e/read-topic.ts";
import { createRoute } from "../e2e/route.ts";
import { installation, receiver, useInstallation } from "../e2e/use-installation.ts";
import { createArrivals } from "./arrivals.ts";
import { type IsFinished, readCommitted } from "./committed.ts";
import { explainArrivals } from "./explained-arrivals.ts";
import { isLong, printSeed } from "./form.ts";
import { startLoad } from "./load.ts";
import { readPlaces } from "./places.ts";
import { printWithLoad, toTable } from "./table.ts";

const EVENTS = isLong ? 50_000 : 1_500;
const KILLS = isLong ? 20 : 2;
const EVENTS_PER_SECOND = isLong ? 1_000 : 300;
/** The receiver's time for an answer, so that a delivery is always in flight. */
const ANSWER_MS = 20;
/** Longer than a killed member's session (10 s), whose partitions nobody reads until it ends. */
const ARRIVAL = { timeoutMs: 120_000, intervalMs: 20 };

/** One kill: the state when the process was gone, and the repeats afterwards. */
interface Kill {
  readonly received: ReadonlySet<string>;
  /** Requests that had come and were not answered yet. */
  readonly inFlight: number;
  readonly isFinished: IsFinished;
  readonly repeated: string[];
}

useInstallation();

it(
  `${KILLS} kills at random moments lose nothing, and repeat only what was in flight or not committed yet`,
  async () => {
    const { system, names } = installation;
    const delivery = system.process("delivery");
    const route = await createRoute(installation, receiver, "/engine");
    const kills: Kill[] = [];
    const receivedAtMs = new Map<string, number>();
    const arrivals = createArrivals({ onRepeat: (messageId) => kills.at(-1)?.repeated.push(messageId) });
    receiver.script(route.path, (request) => {
      arrivals.record(request);
      receivedAtMs.set(request.headers["x-message-id"] ?? "", performance.now());
      return { delayMs: ANSWER_MS };
    });

    const load = startLoad({
      ingestUrl: system.ingestUrl,
      writeKey: route.writeKey,
      eventsPerSecond: EVENTS_PER_SECOND,
      name: "engine",
      events: EVENTS,
    });
    for (const after of randomCounts(KILLS, EVENTS)) {
      await eventually(() => expect(receivedAtMs.size).toBeGreaterThanOrEqual(after), ARRIVAL);
      const killedAtMs = performance.now();
      await delivery.kill();
      await untilDrained();
      const isFinished = await readCommitted(system.stack.brokers, names.deliveryGroup, names.deliveries);
      const unanswered = [...receivedAtMs.values()].filter((atMs) => atMs + ANSWER_MS > killedAtMs);
      kills.push({ received: new Set(receivedAtMs.keys()), inFlight: unanswered.length, isFinished, repeated: [] });
      await delivery.start();
    }

    await eventually(() => expect(load.acknowledged.size + load.refused()).toBe(EVENTS), ARRIVAL);
    await load.stop();
    const lost = (): string[] => [...load.acknowledged].filter((messageId) => !arrivals.has(messageId));
    await eventually(() => expect(lost()).toEqual([]), ARRIVAL);

    const places = await readPlaces(system.stack, names, load.acknowledged);
    const rows = kills.map((kill) => ({ ...kill, allowed: notFinished(kill, places) }));
    printWithLoad(
      toTable(
        ["killed after", "in flight", "finished since the last commit", "repeated"],
        rows.map(({ received, inFlight, allowed, repeated }) => [
          received.size,
          inFlight,
          Math.max(0, allowed.size - inFlight),
          repeated.length,
        ]),
      ),
    );
    // A delivery that no kill explains may come again or late after an attempt that failed, and else not.
    const repeats = countEach(rows.flatMap(({ allowed, repeated }) => repeated.filter((id) => !allowed.has(id))));
    const explained = await explainArrivals({ repeats, late: arrivals.late }, system.stack, names);
    expect(explained).toMatchObject({ repeated: 0, disordered: 0 });
  },
  isLong ? 20 * 60_000 : 180_000,
);

/**
 * Every request of a killed process has come, however late this process reads it: connections are taken in their order,
 * and each of its own ends behind its requests.
 */
async function untilDrained(): Promise<void> {
  await fetch(`${receiver.url}/drained`, { headers: { connection: "close" } });
  await eventually(async () => expect(await receiver.connections()).toBe(0), ARRIVAL);
}

function countEach(messageIds: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const messageId of messageIds) counts.set(messageId, (counts.get(messageId) ?? 0) + 1);
  return counts;
}

/**
 * The deliveries that had come to the receiver and were not finished by the commits: all that a new owner may send
 * again.
 */
function notFinished({ received, isFinished }: Kill, places: ReadonlyMap<string, Place>): ReadonlySet<string> {
  return new Set(
    [...received].filter((messageId) => {
      const place = places.get(messageId);
      return place === undefined || !isFinished(place);
    }),
  );
}

/**
 * Rising counts of deliveries after which the process is killed. The last tenth is left out: there must be something to
 * kill.
 */
function randomCounts(count: number, events: number): readonly number[] {
  const random = createRandom(printSeed("engine"));
  return Array.from({ length: count }, () => wholeBetween(random, 1, events * 0.9)).sort((a, b) => a - b);
}
