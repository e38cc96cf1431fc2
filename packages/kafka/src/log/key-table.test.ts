import { expect, it, vi } from "vitest";
import type { KafkaConnection } from "../connection/connect.ts";
import { createKeyTable } from "./key-table.ts";

const TIMEOUT_MS = 60_000;

/** How long, in ms, the reader was given to reach the end; undefined for as long as it takes. */
const given = vi.hoisted((): (number | undefined)[] => []);
/** The steps before the brokers say where the topic ends. */
const asked = vi.hoisted(() => ({ onAsked: () => {} }));

vi.mock("./log-reader.ts", () => ({
  followLog: async () => ({
    position: 0,
    reached: async (_end: number, timeoutMs?: number) => {
      given.push(timeoutMs);
    },
    close: async () => {},
  }),
}));
vi.mock("../connection/topic-offsets.ts", () => ({
  endOffset: async () => {
    asked.onAsked();
    return 0;
  },
}));

it("gives a refresh the time that is left by the clock that the table was made with", async () => {
  let monotonicMs = 1_000_000;
  const table = await createKeyTable({ metrics: undefined, log: {} } as unknown as KafkaConnection, {
    ...{ topic: "keys", onKey: () => {}, size: () => 0, leaseMs: 1000 },
    onFailure: (reason) => {
      throw reason;
    },
    clock: { nowMs: () => 0, monotonicMs: () => monotonicMs },
  });
  await table.caughtUp();
  given.length = 0;
  asked.onAsked = () => {
    monotonicMs += 20_000;
  };
  await table.refresh(TIMEOUT_MS);
  expect(given).toEqual([TIMEOUT_MS - 20_000]);
});
