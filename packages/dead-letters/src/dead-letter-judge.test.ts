/** Z6 of replay-run.ts: the skip causes that are known while the delivery log cannot be asked. */
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import { PosthasteError } from "@posthaste/core/errors";
import { expect, it } from "vitest";
import { DeadLetterJudge } from "./dead-letter-judge.ts";
import type { FoundDeadLetter } from "./dead-letter-reader.ts";
import { PastPlans } from "./plan-dead-letters.ts";

const found = (destinationId: string): FoundDeadLetter => {
  const deadLetter = { destinationId, messageId: "m", reason: "window_expired", deadAtMs: 5, lastAttempt: [] };
  const facts = { partition: 0, offset: 0, ...deadLetter };
  return {
    deadLetter: deadLetter as unknown as DeadLetter,
    facts,
    record: { key: null },
  } as unknown as FoundDeadLetter;
};

function judgeWhoseLog(failure: Error): DeadLetterJudge {
  return new DeadLetterJudge({
    past: new PastPlans({ plans: () => [] }, { id: null }),
    suppressed: { size: 0, has: () => false, hasDigest: () => false },
    destinationOf: (id) => ({ enabled: id === "dst_on", settle: "any" }),
    readModel: { outcomes: () => Promise.reject(failure), newest: () => Promise.reject(failure) },
  });
}

it.each([
  ["is being opened", new PosthasteError("delivery_log_unavailable", "try again soon")],
  ["has failed", new PosthasteError("internal", "the database failed")],
  ["was closed", new PosthasteError("closed", "the delivery log is closed")],
])("while the delivery log %s, dead letters are judged by the tables, and a replay goes on", async (_, failure) => {
  const judge = judgeWhoseLog(failure);
  const said: string[] = [];
  const judging = { replayId: "rpl_1", again: false, beforeMs: 9 };
  const causes = await judge.judgeAnyway([found("dst_on"), found("dst_off")], judging, (reason) => said.push(reason));
  expect([causes, said]).toEqual([[null, "destinationOff"], [failure.message]]);
  await expect(judge.judge([found("dst_on")], judging)).rejects.toBe(failure);
});

it("a bug is none of the delivery log's failures", async () => {
  const judging = { replayId: "rpl_1", again: false, beforeMs: 9 };
  const bug = new TypeError("no such thing");
  await expect(judgeWhoseLog(bug).judgeAnyway([found("dst_on")], judging, () => {})).rejects.toBe(bug);
});
