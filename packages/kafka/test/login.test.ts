import { readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { type Log, SILENT_LOG } from "@posthaste/core/log";
import { kafkaBrokers } from "@posthaste/testkit/broker";
import { ByteProxy } from "@posthaste/testkit/byte-proxy";
import { CertificateAuthority } from "@posthaste/testkit/certificates";
import { eventually } from "@posthaste/testkit/eventually";
import { oauthToken, type SecuredBroker, startSecuredBroker } from "@posthaste/testkit/secured-broker";
import { uniqueName } from "@posthaste/testkit/topics";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connectKafka, type KafkaConnection, type KafkaConnectionOptions } from "../src/connection/connect.ts";
import type { BrokerAddress, Dial } from "../src/connection/dial.ts";
import { LivenessWatch } from "../src/connection/liveness.ts";
import { readTopicId } from "../src/connection/topic-id.ts";
import { createWindowedConsumer } from "../src/consumer/consumer.ts";
import type { KafkaLogin } from "../src/login/login.ts";
import { createProducer } from "../src/producer/producer.ts";
import { readValues } from "./harness.ts";

const USER = { name: "a-user", password: "a password" };
const HOUR_MS = 3_600_000;
/**
 * A refusal is reported at once (SA2 of shared-admin.ts); a request that fails before it reaches the broker, on a busy
 * machine, is sent again.
 */
const PATIENT = { adminPatienceMs: 60_000 };

let secured: SecuredBroker;
let ca = "";
const tokenFile = join(tmpdir(), uniqueName("token"));
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  secured = await startSecuredBroker([USER]);
  ca = await readFile(secured.authorityFile, "utf8");
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(async () => {
  await secured?.stop();
  await rm(tokenFile, { force: true });
});

const login = (mechanism: "plain" | "scram-sha-256" | "scram-sha-512", password = USER.password): KafkaLogin => ({
  mechanism,
  username: USER.name,
  password,
});
const TOKEN: KafkaLogin = { mechanism: "oauthbearer", tokenFile };

/** TLS that trusts the broker unless it says another thing; null for none. */
type Options = Partial<Omit<KafkaConnectionOptions, "tls">> & { readonly tls?: KafkaConnectionOptions["tls"] | null };

/** A connection to the secured broker, and its warnings. */
function connect({ tls = { ca }, ...options }: Options) {
  const lines: { readonly event: string; readonly message: string | undefined }[] = [];
  const log: Log = {
    ...SILENT_LOG,
    warn: (fields, message) => lines.push({ event: String(fields["event"]), message }),
  };
  const connection = connectKafka({
    brokers: [secured.broker],
    clientId: "test",
    log,
    ...(tls ? { tls } : {}),
    ...options,
  });
  closing.push(() => connection.close());
  return { connection, lines };
}

/**
 * Makes a topic, sends, asks for its id, reads it without a group and with one: every way in which a process speaks to
 * brokers.
 */
async function useAll(connection: KafkaConnection): Promise<void> {
  const topic = uniqueName("secured");
  await connection.withAdmin((admin) =>
    admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: false }),
  );
  const producer = await createProducer(connection, { name: "test", topics: [topic] });
  await producer.send([{ topic, key: null, value: Buffer.from("v") }]);
  expect(await readTopicId(connection, topic)).toMatch(/^[A-Za-z0-9_-]{22}$/);
  expect(await readValues(connection, topic)).toEqual(["v"]);
  const taken: string[] = [];
  const consumer = createWindowedConsumer<string>(connection, {
    groupId: uniqueName("group"),
    topics: [topic],
    window: { maxRecords: 10, maxBytes: 1000 },
    take: ({ value }) => String(value),
    laneOf: () => null,
    run: async ({ item }) => void taken.push(item),
    onFailure: (reason) => {
      throw reason;
    },
  });
  await consumer.start();
  await eventually(() => expect(taken).toEqual(["v"]));
  await consumer.stop();
  await producer.close();
}

describe("over TLS, a process that logs in", () => {
  it.each(["plain", "scram-sha-256", "scram-sha-512"] as const)(
    "by %s does all that it does without",
    async (mechanism) => {
      const { connection, lines } = connect({ login: login(mechanism) });
      await useAll(connection);
      expect(connection.brokersState()).toBe(true);
      expect(lines).toEqual([]);
    },
  );

  it("by oauthbearer does too", async () => {
    await writeFile(tokenFile, oauthToken("a-service"));
    const { connection, lines } = connect({ login: TOKEN });
    await useAll(connection);
    expect(connection.brokersState()).toBe(true);
    expect(lines).toEqual([]);
  });

  it("by a certificate of its own does too, without a login", async () => {
    const pem = await readFile(secured.operatorFile, "utf8");
    const { connection } = connect({ brokers: [secured.operatorBroker], tls: { ca, cert: pem, key: pem } });
    await useAll(connection);
  });
});

describe("a process that is refused", () => {
  /** The requests to the brokers, the readiness and the log give the same sentence. */
  async function expectRefusal(options: Options, sentence: RegExp): Promise<void> {
    const { connection, lines } = connect({ ...PATIENT, ...options });
    const asked = connection.withAdmin((admin) => admin.listTopics());
    await expect(asked).rejects.toMatchObject({ code: "broker_refuses", retryable: true });
    await expect(asked).rejects.toThrow(sentence);
    await eventually(() => expect(connection.brokersState()).toMatch(sentence));
    await eventually(() =>
      expect(lines).toContainEqual({ event: "broker_refuses", message: expect.stringMatching(sentence) }),
    );
    expect(JSON.stringify(lines)).not.toContain("wrong password");
  }

  it.each(["plain", "scram-sha-256", "scram-sha-512"] as const)(
    "for a wrong password of %s names the settings",
    (mechanism) =>
      expectRefusal(
        { login: login(mechanism, "wrong password") },
        new RegExp(`KAFKA_SASL_USERNAME a-user.*${mechanism}.*KAFKA_SASL_PASSWORD`),
      ),
  );

  it("for an authority that did not sign the broker's certificate names the file", () =>
    expectRefusal({ login: login("plain"), tls: { ca: new CertificateAuthority().cert } }, /KAFKA_TLS_CA_FILE/));

  it("for the usual authorities names the file too", () =>
    expectRefusal({ login: login("plain"), tls: {} }, /KAFKA_TLS_CA_FILE/));

  it("for no certificate of its own, where the listener wants one, names the files", () =>
    expectRefusal({ brokers: [secured.operatorBroker] }, /KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE/));

  it("for a certificate that the broker does not trust names the file", () => {
    const stranger = new CertificateAuthority().issue({ commonName: "operator" });
    return expectRefusal(
      { brokers: [secured.operatorBroker], tls: { ca, ...stranger } },
      /does not trust KAFKA_TLS_CERT_FILE/,
    );
  });

  it("for a token without a file names the file", () =>
    expectRefusal({ login: { mechanism: "oauthbearer", tokenFile: "/not/there" } }, /KAFKA_SASL_TOKEN_FILE.*ENOENT/));

  it("for an expired token names its file, and goes on by itself when there is a new one", async () => {
    const [issuedAt, expiresAt] = [new Date(Date.now() - 2 * HOUR_MS), new Date(Date.now() - HOUR_MS)];
    await writeFile(tokenFile, oauthToken("a-service", { issuedAt, expiresAt }));
    const { connection, lines } = connect({ login: TOKEN, ...PATIENT });
    const sentence = /KAFKA_SASL_TOKEN_FILE.*has not expired/;
    await expect(connection.withAdmin((admin) => admin.listTopics())).rejects.toThrow(sentence);
    await eventually(() => expect(connection.brokersState()).toMatch(sentence));
    await eventually(() =>
      expect(lines).toContainEqual({ event: "broker_refuses", message: expect.stringMatching(sentence) }),
    );
    await writeFile(tokenFile, oauthToken("a-service"));
    expect(await connection.withAdmin((admin) => admin.listTopics())).toBeInstanceOf(Array);
    await eventually(() => expect(connection.brokersState()).toBe(true));
  });

  it("for no TLS at all names the setting", async () => {
    const { connection, lines } = connect({ tls: null, login: login("plain") });
    await eventually(() => expect(connection.brokersState()).toMatch(/KAFKA_TLS/));
    await eventually(() =>
      expect(lines).toContainEqual({ event: "broker_refuses", message: expect.stringContaining("KAFKA_TLS") }),
    );
  });

  it("for TLS at a listener without it names the setting", async () => {
    const { connection, lines } = connect({ brokers: kafkaBrokers() });
    await eventually(() => expect(connection.brokersState()).toContain("set KAFKA_TLS to false"));
    await eventually(() =>
      expect(lines).toContainEqual({ event: "broker_refuses", message: expect.stringContaining("KAFKA_TLS") }),
    );
  });

  it("for a login at a listener without one names the setting", () =>
    expectRefusal({ brokers: kafkaBrokers(), tls: null, login: login("plain") }, /leave KAFKA_SASL_MECHANISM out/));

  it("for no login names the setting", async () => {
    const { lines } = connect({});
    await eventually(() =>
      expect(lines).toContainEqual({
        event: "broker_refuses",
        message: expect.stringContaining("KAFKA_SASL_MECHANISM"),
      }),
    );
  });
});

/** As many unanswered ticks make a broker silent, with login and TLS as without; one may pass before it is asked. */
const SILENT_TICKS = 4;

/** The broker behind a proxy that stops, with all its sockets open, as a broker that hangs. */
async function openHanging() {
  const proxy = new ByteProxy(`http://${secured.broker}`);
  await proxy.listen();
  closing.push(() => proxy.close());
  return { broker: new URL(proxy.url).host, hang: () => proxy.hold(), resume: () => proxy.release() };
}

function addressOf(broker: string): BrokerAddress {
  const [host = "", port] = broker.split(":");
  return { host, port: Number(port) };
}

/** A watch of these brokers that logs in; it counts its ticks and the connections that it opens. */
function startWatch(
  watched: readonly string[],
  { tickMs = 500, login: asked }: { tickMs?: number; login?: KafkaLogin } = {},
) {
  const seen = { ticks: 0, dials: 0, changes: [] as string[] };
  const dial: Dial = ({ host, port }, onConnect) => {
    seen.dials += 1;
    return connectTls({ host, port, ca }, onConnect);
  };
  const watch = new LivenessWatch({
    brokers: watched.map(addressOf),
    dial,
    login: asked,
    tickMs,
    onChange: (broker, silent) => seen.changes.push(`${broker} ${silent ? "silent" : "answers"}`),
    onTick: () => (seen.ticks += 1),
  });
  closing.push(async () => watch.close());
  return { watch, seen };
}

describe("the liveness watch at brokers that want a login, over TLS", () => {
  it("asks again and again on one connection, where without a login it is cut at its second question", async () => {
    const { broker } = secured;
    const { watch, seen } = startWatch([broker], { tickMs: 50, login: login("scram-sha-512") });
    await eventually(() => expect(watch.answering()).toEqual([broker]));
    // Again where the broker stood still for as long as a few ticks: one that is cut is cut each time.
    await eventually(async () => {
      const before = { ...seen };
      await eventually(() => expect(seen.ticks).toBeGreaterThan(before.ticks + 40));
      expect([seen.dials, watch.answering()]).toEqual([before.dials, [broker]]);
    });

    const stranger = startWatch([broker], { tickMs: 50 });
    await eventually(() => expect(stranger.seen.dials).toBeGreaterThan(1));
  });

  it("L1: notices a broker that hangs after as many ticks as without, cuts it, and takes it back", async () => {
    const [hung, healthy] = [await openHanging(), secured.broker];
    const { watch, seen } = startWatch([hung.broker, healthy], { login: login("scram-sha-512") });
    await eventually(() => expect(watch.answering()).toEqual([hung.broker, healthy]));
    const connected = Promise.withResolvers<void>();
    const socket = watch.open(addressOf(hung.broker), connected.resolve);
    const cut = new Promise<NodeJS.ErrnoException>((resolve) => {
      socket.once("error", resolve);
    });
    await connected.promise;
    const hungAt = seen.ticks;
    hung.hang();
    expect((await cut).code).toBe("ECONNREFUSED");
    expect(seen.ticks - hungAt).toBeGreaterThanOrEqual(SILENT_TICKS - 1);
    expect(seen.ticks - hungAt).toBeLessThanOrEqual(SILENT_TICKS + 1);
    expect(watch.unresponsive()).toEqual([hung.broker]);
    expect(watch.answering()).toEqual([healthy]);
    hung.resume();
    await eventually(() => expect(watch.answering()).toEqual([hung.broker, healthy]));
    expect(seen.changes).toEqual([`${hung.broker} silent`, `${hung.broker} answers`]);
  });

  it("L1: notices a broker that hung before anybody spoke to it, in the middle of a handshake", async () => {
    const [hung, healthy] = [await openHanging(), secured.broker];
    hung.hang();
    const { watch, seen } = startWatch([hung.broker, healthy], { login: login("scram-sha-512") });
    await eventually(() => expect(watch.unresponsive()).toEqual([hung.broker]));
    expect(watch.answering()).toEqual([healthy]);
    hung.resume();
    await eventually(() => expect(watch.answering()).toEqual([hung.broker, healthy]));
    expect(seen.changes).toEqual([`${hung.broker} silent`, `${hung.broker} answers`]);
  });
});
