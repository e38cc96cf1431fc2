import type { MessageOutcome } from "@posthaste/read-model/projection";
import type { ReadModel } from "@posthaste/read-model/read-model";
import { describe, expect, it } from "vitest";
import { statesOf } from "./notification-states.ts";

const NOTIFICATION = { messageId: "m", userId: "u", sourceId: "src_1", destinationId: "dst_1" };
const outcome = (kind: string, atMs: number): MessageOutcome => ({
  ...{ messageId: "m", destinationId: "dst_1", kind, entries: 1, firstMs: atMs, newestMs: atMs },
});

/** A read model that holds these. */
function holding(attempts: readonly MessageOutcome[], deadLetters: readonly MessageOutcome[]): ReadModel {
  const outcomes: ReadModel["outcomes"] = async (projection) => (projection === "attempts" ? attempts : deadLetters);
  return { outcomes } as Partial<ReadModel> as ReadModel;
}

describe("the state of a notification", () => {
  const failed = outcome("retryable", 1);
  const delivered = outcome("delivered", 5);
  const before = outcome("window_expired", 3);
  const after = outcome("window_expired", 7);
  it.each<[string, readonly MessageOutcome[], readonly MessageOutcome[], boolean, string]>([
    ["of which nothing is known", [], [], false, "sent"],
    ["that was not delivered yet", [failed], [], false, "retrying"],
    ["that was delivered at last", [failed, delivered], [], false, "delivered"],
    ["that was given up", [failed], [before], false, "dead"],
    ["whose dead letter was replayed and delivered", [failed, delivered], [before], false, "delivered"],
    ["whose replay was given up again", [failed, delivered], [before, after], false, "dead"],
    ["of which one of several URLs was given up", [failed, delivered], [before], true, "dead"],
    ["of another destination alone", [{ ...delivered, destinationId: "dst_2" }], [], false, "sent"],
  ])("%s", async (_, attempts, deadLetters, settlesEach, state) => {
    const [answer] = await statesOf(holding(attempts, deadLetters), [NOTIFICATION], () => settlesEach);
    expect(answer?.state).toBe(state);
  });
});
