/** Rule: DD2 of dedupe.ts. */
import { OriginCheckpoint } from "@posthaste/core/delivery/origin";
import { testEvent } from "@posthaste/testbed/test-event";
import { eventually } from "@posthaste/testkit/eventually";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInstallation, type Installation, type ReadDelivery } from "./installation.ts";

let installation: Installation;

beforeEach(async () => {
  installation = await createInstallation();
  await installation.configure("dst_a", {});
  await installation.configure("dst_b", {});
});

afterEach(() => installation.remove());

/** The deliveries that delivery sends of the routers' records. */
function passedByOrigin(): ReadDelivery[] {
  const checkpoints = new Map<number, OriginCheckpoint>();
  return installation.deliveries.filter((delivery) => {
    const checkpoint = checkpoints.get(delivery.partition) ?? new OriginCheckpoint();
    checkpoints.set(delivery.partition, checkpoint);
    const isNew = !checkpoint.isRepeat(delivery);
    checkpoint.note(delivery);
    return isNew;
  });
}

describe("one router after another", () => {
  it("R4, D2: nothing is missing and nothing is sent twice, while routers come and go", async () => {
    const ids = Array.from({ length: 600 }, (_, index) => `m-${index}`);
    const send = (from: number, to: number) =>
      installation.send(ids.slice(from, to).map((id, index) => testEvent(id, { userId: `u${index % 7}` })));
    const first = await installation.startRouter();
    await send(0, 200);
    const second = await installation.startRouter();
    await send(200, 400);
    await first.stop();
    await send(400, 600);
    await eventually(() => expect(new Set(installation.deliveries.map(({ messageId }) => messageId)).size).toBe(600));
    await second.stop();
    const sent = () => passedByOrigin().map(({ messageId, destinationId }) => `${messageId} ${destinationId}`);
    // The records of the one may be read before the records of the other.
    const all = ids.flatMap((id) => [`${id} dst_a`, `${id} dst_b`]).toSorted();
    await eventually(() => expect(sent().toSorted()).toEqual(all));
    expect([...first.failures, ...second.failures]).toEqual([]);
  });

  it("knows the message ids of the events before its time, soon after it took over", async () => {
    const first = await installation.startRouter();
    const old = Array.from({ length: 40 }, (_, index) => `old-${index}`);
    await installation.send(old.map((id) => testEvent(id)));
    // An unreadable record does not end the reading of the others.
    await installation.sendRaw(installation.strayValue, { key: "src_1:u1" });
    await eventually(() => expect(installation.deliveries).toHaveLength(80));
    await first.stop();
    await installation.startRouter();
    // Each id is sent again once, so that the second router cannot know it by itself.
    await eventually(async () => {
      const id = old.shift();
      if (id === undefined) throw new Error("none was known");
      await installation.send([testEvent(id)]);
      const causes = await eventually(() => {
        const found = installation.unrouted.flatMap(({ events }) => events.filter((each) => each.messageId === id));
        const routed = installation.deliveries.filter(({ messageId }) => messageId === id).length > 2;
        if (found.length === 0 && !routed) throw new Error("not read yet");
        return found.map(({ cause }) => cause);
      });
      expect(causes).toEqual(["duplicate"]);
    });
  });

  it("DD2: forgets a partition that it gives up, and knows what another saw of it when it has it again", async () => {
    const waitFor = (ids: readonly string[]) =>
      eventually(() => {
        const seen = new Set(installation.deliveries.map(({ messageId }) => messageId));
        expect(ids.filter((id) => !seen.has(id))).toEqual([]);
      });
    const send = (ids: readonly string[]) =>
      installation.send(ids.map((id, index) => testEvent(id, { userId: `u${index % 24}` })));
    const make = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}-${index}`);
    const first = await installation.startRouter();
    // It has ids of every partition before it gives some up.
    const before = make("before", 48);
    await send(before);
    await waitFor(before);
    const second = await installation.startRouter();
    // In each round all of the partitions have an event, so half of the ids are the second router's alone.
    const rounds = Array.from({ length: 12 }, (_, round) => make(`round-${round}`, 24));
    await eventually(async () => {
      expect(await second.registry.metrics()).toMatch(/posthaste_routed_events_total\{outcome="routed"\} 0/);
      expect(second.readiness()["group"]).toBe(true);
    });
    await send(rounds.flat());
    await waitFor(rounds.flat());
    // It counts acknowledged records, which the test may have read before.
    await eventually(async () =>
      expect(await second.registry.metrics()).not.toMatch(/posthaste_routed_events_total\{outcome="routed"\} 0/),
    );
    await second.stop();
    // Every id is sent again once; the first router has to read them from the log before it knows them.
    await eventually(
      async () => {
        const round = rounds.shift();
        if (round === undefined) throw new Error("the first router does not know the ids of the second");
        await send(round);
        const duplicates = await eventually(() => {
          const found = installation.unrouted.flatMap(({ events }) =>
            events.filter(({ messageId, cause }) => cause === "duplicate" && round.includes(messageId)),
          );
          const routedAgain = round.filter(
            (id) => installation.deliveries.filter(({ messageId }) => messageId === id).length > 2,
          );
          if (found.length + routedAgain.length < round.length) throw new Error("not read yet");
          return found.length;
        });
        expect(duplicates).toBe(round.length);
      },
      { timeoutMs: 60_000 },
    );
    expect([...first.failures, ...second.failures]).toEqual([]);
  });
});
