import { readFile } from "node:fs/promises";
import { connect as connectTls } from "node:tls";
import { eventually } from "@posthaste/testkit/eventually";
import { type SecuredBroker, startSecuredBroker } from "@posthaste/testkit/secured-broker";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { BrokerAddress, Dial } from "../src/connection/dial.ts";
import { LivenessWatch } from "../src/connection/liveness.ts";
import type { KafkaLogin } from "../src/login/login.ts";

const USER = { name: "a-user", password: "a password" };
const LOGIN: KafkaLogin = { mechanism: "scram-sha-512", username: USER.name, password: USER.password };
/** As many unanswered ticks make a broker silent, with login and TLS as without; one may pass before it is asked. */
const SILENT_TICKS = 4;

let brokers: readonly SecuredBroker[] = [];
const authorities = new Map<string, string>();
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  brokers = await Promise.all([startSecuredBroker([USER]), startSecuredBroker([USER])]);
  for (const { broker, authorityFile } of brokers) authorities.set(broker, await readFile(authorityFile, "utf8"));
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => Promise.all(brokers.map((broker) => broker.stop())));

function addressOf({ broker }: SecuredBroker): BrokerAddress {
  const [host = "", port] = broker.split(":");
  return { host, port: Number(port) };
}

/** A watch of these brokers that logs in; it counts its ticks and the connections that it opens. */
function startWatch(
  watched: readonly SecuredBroker[],
  { tickMs = 500, login }: { tickMs?: number; login?: KafkaLogin } = {},
) {
  const seen = { ticks: 0, dials: 0, changes: [] as string[] };
  const dial: Dial = ({ host, port }, onConnect) => {
    seen.dials += 1;
    return connectTls({ host, port, ca: authorities.get(`${host}:${port}`) }, onConnect);
  };
  const watch = new LivenessWatch({
    brokers: watched.map(addressOf),
    dial,
    login,
    tickMs,
    onChange: (broker, silent) => seen.changes.push(`${broker} ${silent ? "silent" : "answers"}`),
    onTick: () => (seen.ticks += 1),
  });
  closing.push(() => watch.close());
  return { watch, seen };
}

describe("the liveness watch at brokers that want a login, over TLS", () => {
  it("asks again and again on one connection, where without a login it is cut at its second question", async () => {
    const [broker] = brokers as [SecuredBroker];
    const { watch, seen } = startWatch([broker], { tickMs: 50, login: LOGIN });
    await eventually(() => expect(watch.answering()).toEqual([broker.broker]));
    // Again where the broker stood still for as long as a few ticks: one that is cut is cut each time.
    await eventually(async () => {
      const before = { ...seen };
      await eventually(() => expect(seen.ticks).toBeGreaterThan(before.ticks + 40));
      expect([seen.dials, watch.answering()]).toEqual([before.dials, [broker.broker]]);
    });

    const stranger = startWatch([broker], { tickMs: 50 });
    await eventually(() => expect(stranger.seen.dials).toBeGreaterThan(1));
  });

  it("L1: notices a broker that hangs after as many ticks as without, cuts it, and takes it back", async () => {
    const [hung, healthy] = brokers as [SecuredBroker, SecuredBroker];
    const { watch, seen } = startWatch([hung, healthy], { login: LOGIN });
    await eventually(() => expect(watch.answering()).toEqual([hung.broker, healthy.broker]));
    const connected = Promise.withResolvers<void>();
    const socket = watch.open(addressOf(hung), connected.resolve);
    const cut = new Promise<NodeJS.ErrnoException>((resolve) => {
      socket.once("error", resolve);
    });
    await connected.promise;
    closing.push(() => hung.resume());
    const hungAt = seen.ticks;
    hung.hang();
    expect((await cut).code).toBe("ECONNREFUSED");
    expect(seen.ticks - hungAt).toBeGreaterThanOrEqual(SILENT_TICKS - 1);
    expect(seen.ticks - hungAt).toBeLessThanOrEqual(SILENT_TICKS + 1);
    expect(watch.unresponsive()).toEqual([hung.broker]);
    expect(watch.answering()).toEqual([healthy.broker]);
    hung.resume();
    await eventually(() => expect(watch.answering()).toEqual([hung.broker, healthy.broker]));
    expect(seen.changes).toEqual([`${hung.broker} silent`, `${hung.broker} answers`]);
  });

  it("L1: notices a broker that hung before anybody spoke to it, in the middle of a handshake", async () => {
    const [hung, healthy] = brokers as [SecuredBroker, SecuredBroker];
    closing.push(() => hung.resume());
    hung.hang();
    const { watch, seen } = startWatch([hung, healthy], { login: LOGIN });
    await eventually(() => expect(watch.unresponsive()).toEqual([hung.broker]));
    expect(watch.answering()).toEqual([healthy.broker]);
    hung.resume();
    await eventually(() => expect(watch.answering()).toEqual([hung.broker, healthy.broker]));
    expect(seen.changes).toEqual([`${hung.broker} silent`, `${hung.broker} answers`]);
  });
});
