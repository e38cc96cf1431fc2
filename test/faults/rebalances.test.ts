/**
 * The delivery group is rebalanced under load, again and again: a member joins, is paused past its session and goes on,
 * and leaves. Nothing is lost, and repeats are counted.
 *
 * In `npm test` one such round; with POSTHASTE_LONG (`npm run test:long -- test/faults/rebalances`) three, a minute
 * apart.
 */
import { findFreePorts } from "@posthaste/local-stack/ports";
import type { StackProcess } from "@posthaste/local-stack/stack-process";
import { withAdmin } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createRoute } from "../e2e/route.ts";
import { installation, receiver, useInstallation } from "../e2e/use-installation.ts";
import { createArrivals } from "./arrivals.ts";
import { explainArrivals } from "./explained-arrivals.ts";
import { isLong } from "./form.ts";
import { type Load, startLoad } from "./load.ts";
import { pause } from "./pause.ts";
import { printWithLoad, toTable } from "./table.ts";

const ROUNDS = isLong ? 3 : 1;
const EVENTS_PER_SECOND = isLong ? 500 : 100;
/** How long the load runs on between two steps. */
const BETWEEN_MS = isLong ? 10_000 : 2_000;
const ANSWER_MS = 20;
const ARRIVAL = { timeoutMs: 120_000, intervalMs: 50 };

let second: StackProcess;

useInstallation();

beforeAll(async () => {
  const [port = 0] = await findFreePorts(1);
  second = installation.system.another("delivery", { adminPort: port });
});

afterAll(async () => {
  await second.stop();
});

it(
  "a member that joins, is paused past its session and leaves: nothing is lost, order is kept, no service ends",
  async () => {
    const { system, names } = installation;
    const groupHas = (members: number): Promise<void> =>
      eventually(
        async () => expect(await countMembers(system.stack.brokers, names.deliveryGroup)).toBe(members),
        ARRIVAL,
      );
    const route = await createRoute(installation, receiver, "/rebalances");
    const arrivals = createArrivals();
    receiver.script(route.path, (request) => {
      arrivals.record(request);
      return { delayMs: ANSWER_MS };
    });
    const load = startLoad({
      ingestUrl: system.ingestUrl,
      writeKey: route.writeKey,
      eventsPerSecond: EVENTS_PER_SECOND,
      name: "rebalances",
    });
    const first = system.process("delivery");
    const firstPid = first.pid;
    const steps: [string, number, () => Promise<void>][] = [
      ["joins", 2, () => second.start()],
      [
        "is paused past its session and goes on",
        2,
        async () => {
          const { pid } = second;
          await second.hang();
          await groupHas(1);
          await pause(BETWEEN_MS);
          await second.resume();
          expect(second.pid).toBe(pid);
        },
      ],
      ["leaves", 1, () => second.stop()],
    ];
    const rows: (readonly (string | number)[])[] = [];
    await eventually(() => expect(arrivals.deliveries.count()).toBeGreaterThan(0), ARRIVAL);
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const [step, members, take] of steps) {
        const repeatedBefore = arrivals.repeated();
        const fromMs = performance.now();
        await take();
        await groupHas(members);
        await pause(BETWEEN_MS);
        await eventually(() => expect(missing(load, arrivals.has)).toBeLessThan(EVENTS_PER_SECOND), ARRIVAL);
        const gapMs = Math.round(arrivals.deliveries.longestGapMs(fromMs, performance.now()));
        rows.push([round, step, arrivals.deliveries.count(), arrivals.repeated() - repeatedBefore, gapMs]);
      }
    }
    await load.stop();
    await eventually(() => expect(missing(load, arrivals.has)).toBe(0), ARRIVAL);
    printWithLoad(toTable(["round", "the second member", "delivered so far", "repeated", "longest gap ms"], rows));
    expect((await explainArrivals(arrivals, system.stack, names)).disordered).toBe(0);
    expect(first.pid).toBe(firstPid);
  },
  isLong ? 10 * 60_000 : 180_000,
);

function countMembers(brokers: readonly string[], groupId: string): Promise<number> {
  return withAdmin(async (admin) => (await admin.describeGroups([groupId])).groups[0]?.members.length ?? 0, brokers);
}

function missing(load: Load, has: (messageId: string) => boolean): number {
  return [...load.acknowledged].filter((messageId) => !has(messageId)).length;
}
