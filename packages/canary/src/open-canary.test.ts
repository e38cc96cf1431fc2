import type { ConfigRecord } from "@posthaste/configuration/config-store";
import { canaryIdsOf } from "@posthaste/contracts/canary-ids";
import type { Destination } from "@posthaste/core/config/destination";
import type { Source } from "@posthaste/core/config/source";
import { SILENT_LOG } from "@posthaste/core/log";
import { createFakeClock } from "@posthaste/testkit/clock";
import { Registry } from "prom-client";
import { beforeEach, expect, it } from "vitest";
import type { OwnRecords } from "./canary-configuration.ts";
import { createCanaryMetrics } from "./metrics.ts";
import { type Canary, type OpenCanaryOptions, openCanary } from "./open-canary.ts";
import type { CanaryCall } from "./send-canary.ts";

const ORIGIN = "http://control-0:8090";
const { sourceId, destinationId } = canaryIdsOf(ORIGIN);

/** The records of a topic, which several processes have in common. */
class Records<T extends ConfigRecord> {
  readonly held = new Map<string, T>();
  writes = 0;
  isDown = false;
  readonly hidden = (id: string) => this.held.get(id);
  readonly change: OwnRecords<T>["change"] = async (id, change) => {
    if (this.isDown) throw new Error("the brokers do not answer");
    this.writes += 1;
    const next = change(this.held.get(id), this.writes);
    if (next !== null) this.held.set(id, next);
    return next ?? undefined;
  };
}

let sources: Records<Source>;
let destinations: Records<Destination>;
let calls: CanaryCall[];
let answer: (call: CanaryCall) => Promise<string | null>;
let said: string[];

beforeEach(() => {
  sources = new Records();
  destinations = new Records();
  calls = [];
  said = [];
  answer = async () => null;
});

/** A process of control, whose ticks the test makes. */
function open(
  change: Partial<OpenCanaryOptions> = {},
): Canary & { readonly tick: () => Promise<void>; ended: boolean } {
  const timer = { tick: (): Promise<void> => Promise.resolve(), ended: false };
  const say = ({ event }: Readonly<Record<string, unknown>>) => said.push(String(event));
  const canary = openCanary({
    ...{ isOn: true, origin: () => ORIGIN, ingestUrl: "http://ingest:8080", sources, destinations },
    ...{ metrics: createCanaryMetrics(new Registry()), clock: createFakeClock() },
    log: { ...SILENT_LOG, warn: say, info: say },
    every: (ms, tick) => {
      expect(ms).toBe(10_000);
      timer.tick = tick;
      return () => {
        timer.ended = true;
      };
    },
    send: (call) => {
      calls.push(call);
      return answer(call);
    },
    ...change,
  });
  return Object.assign(timer, { ...canary, tick: () => timer.tick() });
}

it("writes its source and destination first, and sends from the next tick on", async () => {
  const canary = open();
  await canary.start();
  expect(calls).toEqual([]);
  expect(destinations.held.get(destinationId)).toMatchObject({
    ...{ id: destinationId, enabled: true, sourceIds: [sourceId], urls: [{ url: `${ORIGIN}/canary`, headers: {} }] },
    secrets: { active: expect.stringMatching(/^\w{32}$/), next: null, previous: null },
  });
  await canary.tick();
  await canary.tick();
  const key = sources.held.get(sourceId)?.writeKeys[0]?.key;
  expect(calls.map(({ writeKey }) => writeKey)).toEqual([key, key]);
  expect(new Set(calls.map(({ messageId }) => messageId)).size).toBe(2);
});

it("finds both again after a restart, and writes nothing", async () => {
  await open().start();
  const before = [sources.held.get(sourceId), destinations.held.get(destinationId)];
  await open().start();
  expect(calls).toHaveLength(1);
  expect([sources.held.get(sourceId), destinations.held.get(destinationId)]).toEqual(before);
});

it("gives a second process a source and a destination of its own", async () => {
  await open().start();
  await open({ origin: () => "http://control-1:8090" }).start();
  expect([sources.held.size, destinations.held.size]).toEqual([2, 2]);
});

it("CA1: mends what was changed, and replaces a secret that it cannot open", async () => {
  const canary = open();
  await canary.start();
  const [source, destination] = [sources.held.get(sourceId), destinations.held.get(destinationId)];
  if (source === undefined || destination === undefined) throw new Error("nothing was written");
  destinations.held.set(destinationId, { ...destination, enabled: false });
  await canary.tick();
  expect(destinations.held.get(destinationId)).toMatchObject({ enabled: true, secrets: destination.secrets });
  destinations.held.set(destinationId, { ...destination, missingKeyIds: ["k1"] });
  sources.held.set(sourceId, { ...source, writeKeys: [] });
  await canary.tick();
  expect(destinations.held.get(destinationId)?.secrets.active).not.toBe(destination.secrets.active);
  expect(sources.held.get(sourceId)?.writeKeys).toHaveLength(1);
  expect(calls).toEqual([]);
});

it("CA2: waits with the next call for the last one's end", async () => {
  const canary = open();
  await canary.start();
  const last = Promise.withResolvers<string | null>();
  answer = () => last.promise;
  const first = canary.tick();
  await canary.tick();
  expect(calls).toHaveLength(1);
  last.resolve(null);
  await first;
  await canary.tick();
  expect(calls).toHaveLength(2);
});

it("CA3: says once that it cannot send, or write, and that it can again", async () => {
  sources.isDown = true;
  const canary = open();
  await canary.start();
  await canary.tick();
  sources.isDown = false;
  await canary.tick();
  answer = async () => "ingest answers 503";
  await canary.tick();
  await canary.tick();
  expect(said).toEqual(["canary_not_sent", "canary_sent_again", "canary_not_sent"]);
});

it("ends with its timer and its call", async () => {
  const canary = open();
  await canary.start();
  await canary.tick();
  canary.close();
  expect([canary.ended, calls[0]?.signal.aborted]).toEqual([true, true]);
  await canary.tick();
  expect(calls).toHaveLength(1);
});

it("does nothing while it is off, and does not start without an ingest", async () => {
  await open({ isOn: false, ingestUrl: null }).start();
  expect([sources.writes, destinations.writes]).toEqual([0, 0]);
  expect(() => open({ ingestUrl: null })).toThrow(/POSTHASTE_CANARY: set POSTHASTE_INGEST_URL too/);
});
