import { describe, expect, it } from "vitest";
import { decodeHistory } from "./attempt-history.ts";
import type { DeadLetter } from "./dead-letter.ts";
import { NO_PROGRESS } from "./delivery.ts";
import { NO_TOPIC_GENERATION } from "./origin.ts";
import { isOriginKnown, replayedDelivery, replayedProgress } from "./replay.ts";

const deadLetter: DeadLetter = {
  ...{ messageId: "m", sourceId: "s", destinationId: "d", type: "page", receivedAtMs: 1, configOffset: 2 },
  ...{ originIncarnation: 3, originPartition: 4, originOffset: 5, body: Buffer.from("{}"), event: "Home" },
  ...{ restJson: '{"category":"c"}', reason: "window_expired", reasonClass: "receiver", deadAtMs: 6, attempts: 1 },
  ...{ deferrals: 0, windowStartMs: 1, lastAttempt: [], userKey: "u", firstAttemptAtMs: 1 },
  history: [{ attempt: 1, replayId: null, startedAtMs: 1, urls: [] }],
  ...{ originTopic: "events", replayId: null, replays: 0, replayedFrom: null },
};

describe("a replayed delivery", () => {
  it("O3: is the dead letter's without the topic generation of its origin, whose place it keeps", () => {
    const { messageId, sourceId, destinationId, type, receivedAtMs, configOffset, body, event, restJson } = deadLetter;
    expect(replayedDelivery(deadLetter)).toEqual({
      ...{ messageId, sourceId, destinationId, type, receivedAtMs, configOffset, body, event, restJson },
      ...{ originIncarnation: NO_TOPIC_GENERATION, originPartition: 4, originOffset: 5 },
    });
  });

  it("keeps the place of a dead letter that says it by the topic generation alone, and of one that was replayed before", () => {
    for (const known of [
      { ...deadLetter, originTopic: null },
      { ...deadLetter, originIncarnation: NO_TOPIC_GENERATION },
    ]) {
      expect(replayedDelivery(known)).toMatchObject({ originPartition: 4, originOffset: 5 });
    }
  });

  it("names no place where the dead letter knows none, so that its own next dead letter does not either", () => {
    const replayed = replayedDelivery({ ...deadLetter, originTopic: null, originIncarnation: NO_TOPIC_GENERATION });
    const { replay } = replayedProgress(deadLetter, { replayId: "rpl_1", from: "t/0/1", urls: null });
    expect(replayed).toMatchObject({ originPartition: -1, originOffset: -1 });
    expect(isOriginKnown(replayed, replay)).toBe(false);
    expect(isOriginKnown(replayedDelivery(deadLetter), replay)).toBe(true);
    expect(isOriginKnown(replayedDelivery(deadLetter), null)).toBe(false);
    expect(isOriginKnown(deadLetter, null)).toBe(true);
  });

  it("starts anew but for its history, and says which replay it is of, how often and from where", () => {
    const progress = replayedProgress(
      { ...deadLetter, replays: 2 },
      { replayId: "rpl_3", from: "dead/1/9", urls: ["https://a.example/"] },
    );
    expect(progress).toEqual({
      ...NO_PROGRESS,
      urls: ["https://a.example/"],
      history: progress.history,
      replay: { id: "rpl_3", count: 3, from: "dead/1/9" },
    });
    expect(decodeHistory(progress.history)).toEqual(deadLetter.history);
  });
});
