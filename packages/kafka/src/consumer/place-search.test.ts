import { PosthasteError } from "@posthaste/core/errors";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { KafkaConnection } from "../connection/connect.ts";
import { findPlaces } from "./place-search.ts";

const PARTITION = { topic: "a", partition: 0 };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

type Log = readonly { readonly partition: number; readonly low: string; readonly high: string }[];
const log = (high: string): Log => [{ partition: 0, low: "5", high }];

const unavailable = () => {
  throw new PosthasteError("broker_unavailable", "no broker answers", { retryable: true });
};
const leaderless = (): Log => [];
/** The committed offset is 7. */
const outOfRange = () => log("6");
const found = () => log("9");

/** The result of a search whose tries get these answers, one after the other. */
async function search(answers: readonly (() => Log)[]): Promise<readonly string[]> {
  const left = [...answers];
  const reported: string[] = [];
  const admin = {
    fetchTopicOffsets: async () => (left.shift() ?? found)(),
    fetchTopicMetadata: async () => ({ topics: [{ partitions: [{ partitionId: 0 }] }] }),
  };
  const connection = {
    withAdmin: (use: (given: typeof admin) => Promise<unknown>) => use(admin),
    log: { debug: () => {} },
  };
  const searched = findPlaces([PARTITION], {
    connection: connection as unknown as KafkaConnection,
    session: { committed: async () => [{ ...PARTITION, offset: 7, metadata: null }] },
    groupId: "g",
    terms: { topicIds: new Map() },
    isCurrent: () => !reported.some((each) => each === "offset_out_of_range"),
    onAnswer: (places) => places.length > 0 && reported.push(`at ${places[0]?.place.offset}`),
    onFailure: (reason) => reported.push((reason as PosthasteError).code),
  });
  await vi.runAllTimersAsync();
  await searched;
  return reported;
}

it.each([
  ["failed", unavailable],
  ["found the partition without a leader", leaderless],
])("searches on after a first offset outside the log, however many tries %s before", async (_what, answer) => {
  expect(await search([answer, answer, answer, answer, outOfRange, outOfRange])).toEqual(["at 7"]);
});

it("ends with the third try whose offset is outside the log, whatever failed between", async () => {
  const answers = [outOfRange, unavailable, outOfRange, unavailable, outOfRange];
  expect(await search(answers)).toEqual(["offset_out_of_range"]);
});

it("counts the offsets outside the log anew after an answer: a new leader answers then", async () => {
  expect(await search([outOfRange, outOfRange, leaderless, outOfRange, outOfRange])).toEqual(["at 7"]);
});
