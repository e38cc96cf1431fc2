import type { BrokerSettings } from "@posthaste/kafka/topics/broker-settings";
import { expect, it } from "vitest";
import { type BrokerParts, brokerCheck } from "./broker-check.ts";

const QUICK: BrokerParts = { state: () => true, unresponsive: () => [], settings: async () => [] };
const look = (parts: Partial<BrokerParts>) => brokerCheck({ ...QUICK, ...parts }).look();

const brokers = (...sessions: readonly string[]): readonly BrokerSettings[] =>
  sessions.map((session, index) => ({
    brokerId: index + 1,
    settings: new Map([["broker.session.timeout.ms", session]]),
  }));

it("finds brokers that do not answer, all of them or one", async () => {
  expect(await look({})).toEqual([]);
  expect(await look({ state: () => "no broker answers" })).toMatchObject([{ state: "wrong" }]);
  expect(await look({ unresponsive: () => ["b:9092"] })).toMatchObject([
    {
      state: "wrong",
      what: expect.stringContaining("b:9092"),
      remedy: expect.stringContaining("--bootstrap-server b:9092"),
    },
  ]);
});

it("warns of brokers that notice late that one is gone, where another could lead", async () => {
  expect(await look({ settings: async () => brokers("9000") })).toEqual([]);
  expect(await look({ settings: async () => brokers("3000", "2000", "3000") })).toEqual([]);
  expect(await look({ settings: async () => brokers("9000", "3000", "9000") })).toMatchObject([
    {
      state: "warning",
      what: expect.stringMatching(/^broker\.session\.timeout\.ms is 9000 at broker 1, 3:/),
      remedy: expect.stringContaining("broker.session.timeout.ms=3000"),
    },
  ]);
});

it("says nothing of settings that the brokers keep from control", async () => {
  expect(await look({ settings: () => Promise.reject(new Error("not authorized")) })).toEqual([]);
});
