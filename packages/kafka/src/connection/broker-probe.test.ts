import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { eventually } from "@posthaste/testkit/eventually";
import { FrameSplitter } from "@posthaste/testkit/frames";
import { int16, int32, int64, text } from "@posthaste/testkit/kafka-bytes";
import { afterEach, describe, expect, it } from "vitest";
import type { KafkaLogin } from "../login/login.ts";
import { BrokerProbe } from "./broker-probe.ts";

const API_VERSIONS = 18;
const SASL_HANDSHAKE = 17;
const SASL_AUTHENTICATE = 36;
const LOGIN: KafkaLogin = { mechanism: "plain", username: "u", password: "p" };

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** The length, a correlation id, the body. */
function frame(...body: readonly Buffer[]): Buffer {
  const whole = Buffer.concat([int32(0), ...body]);
  return Buffer.concat([int32(whole.length), whole]);
}

const HANDSHAKE_OK = frame(int16(0), int32(1), text("PLAIN"));
const lasting = (lifetimeMs: number) => frame(int16(0), int16(-1), int32(-1), int64(lifetimeMs));
const VERSIONS = frame();

/** A broker that answers by the kind of request, a byte at a time where that is asked for, and a probe of it. */
async function startProbe(answers: Readonly<Record<number, Buffer>>, login: KafkaLogin | null = LOGIN) {
  const seen: number[] = [];
  let connections = 0;
  const server = createServer((socket: Socket) => {
    connections += 1;
    socket.on("error", () => {});
    const splitter = new FrameSplitter();
    socket.on("data", (bytes) => {
      for (const request of splitter.push(bytes)) {
        const kind = request.readInt16BE(4);
        seen.push(kind);
        const answer = answers[kind];
        if (answer) for (const byte of answer) socket.write(Buffer.of(byte));
        else socket.destroy();
      }
    });
    closing.push(() => socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => server.close());
  const reported: string[] = [];
  let answerCount = 0;
  const probe = new BrokerProbe({
    address: { host: "127.0.0.1", port: (server.address() as AddressInfo).port },
    dial: ({ host, port }, onConnect) => connect({ host, port }, onConnect),
    login: login ?? undefined,
    onSeen: () => (answerCount += 1),
    onAnswer: () => reported.push("answer"),
    onRefused: (advice) => reported.push(advice),
  });
  closing.push(() => probe.close());
  return { probe, seen, reported, answerCount: () => answerCount, connections: () => connections };
}

describe("a broker probe", () => {
  it("logs in before it asks, and hears of each step", async () => {
    const { probe, seen, reported, answerCount } = await startProbe({
      [SASL_HANDSHAKE]: HANDSHAKE_OK,
      [SASL_AUTHENTICATE]: lasting(0),
      [API_VERSIONS]: VERSIONS,
    });
    expect(probe.awaitsAnswer).toBe(true);
    await eventually(() => expect(reported).toEqual(["answer"]));
    expect(answerCount()).toBe(3);
    expect(probe.awaitsAnswer).toBe(false);
    probe.ask();
    await eventually(() => expect(probe.answers).toBe(2));
    expect(seen).toEqual([SASL_HANDSHAKE, SASL_AUTHENTICATE, API_VERSIONS, API_VERSIONS]);
  });

  it("BP3: logs in anew on the same connection before the login ends, and not before each question", async () => {
    const { probe, seen, connections } = await startProbe({
      [SASL_HANDSHAKE]: HANDSHAKE_OK,
      [SASL_AUTHENTICATE]: lasting(500),
      [API_VERSIONS]: VERSIONS,
    });
    await eventually(() => {
      probe.ask();
      expect(seen.filter((kind) => kind === SASL_AUTHENTICATE).length).toBe(3);
    });
    expect(seen.filter((kind) => kind === API_VERSIONS).length).toBeGreaterThan(6);
    expect(connections()).toBe(1);
  });

  it("says which mechanisms the listener takes when it does not take ours", async () => {
    const { probe, reported } = await startProbe({
      [SASL_HANDSHAKE]: frame(int16(33), int32(2), text("GSSAPI"), text("SCRAM-SHA-512")),
    });
    await eventually(() => expect(probe.isClosed).toBe(true));
    expect(reported).toEqual([
      expect.stringMatching(/KAFKA_SASL_MECHANISM=plain: set it to one of gssapi, scram-sha-512/),
    ]);
  });

  it("says the broker's words when the login is refused", async () => {
    const { probe, reported } = await startProbe({
      [SASL_HANDSHAKE]: HANDSHAKE_OK,
      [SASL_AUTHENTICATE]: frame(int16(58), text("no such user"), int32(0), int64(0)),
    });
    await eventually(() => expect(probe.isClosed).toBe(true));
    expect(reported).toEqual([expect.stringMatching(/KAFKA_SASL_USERNAME u .*no such user/)]);
  });

  it("is closed and says nothing when the connection ends in the middle of a login", async () => {
    const { probe, reported } = await startProbe({ [SASL_HANDSHAKE]: HANDSHAKE_OK });
    await eventually(() => expect(probe.isClosed).toBe(true));
    expect(reported).toEqual([]);
  });

  it("takes no alert of TLS for an answer", async () => {
    const { probe, reported } = await startProbe({ [API_VERSIONS]: Buffer.from("15030300020250", "hex") }, null);
    await eventually(() => expect(probe.isClosed).toBe(true));
    expect(reported).toEqual([expect.stringContaining("set KAFKA_TLS to true")]);
  });
});
