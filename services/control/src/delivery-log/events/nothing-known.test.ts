import type { PipelineAnswer } from "@posthaste/pipeline/pipeline-search";
import { describe, expect, it } from "vitest";
import { type SearchedFor, tellNothing } from "./nothing-known.ts";

const answered = (state: PipelineAnswer["state"]): PipelineAnswer => ({
  ...{ state, events: [], deliveries: [], records: 12, stopped: [] },
});

const searched = (differing: Partial<SearchedFor> = {}): SearchedFor => ({
  ...{ messageId: "m 1", origin: undefined, keepMs: 7 * 86_400_000, search: answered("searched"), unlogged: "" },
  ...{ hiddenBy: undefined, isComplete: true, ...differing },
});

const sentence = (differing: Partial<SearchedFor>) => tellNothing("unknown", searched(differing)).sentence;

describe("a message id under which nothing was found", () => {
  it("never came, where all that was logged and all that waits was looked through", () => {
    expect(tellNothing("unknown", searched())).toEqual({
      sentence:
        "No event with this ID in the last 7 days, and none waits for the router or delivery: it never came. " +
        "Check the ID and the write key.",
      command: "posthaste events scan 'm 1'",
    });
    expect(sentence({ origin: "1:78" })).toMatch(/^No event with this ID at 1:78 of the events in /);
    expect(sentence({ unlogged: ", or it was not logged" })).toMatch(
      /: it never came, or it was not logged\. Check the ID and the write key\.$/,
    );
  });

  it.each(["stopped", "busy", "failed"] as const)(
    "may be under way where what waits was not looked through: %s",
    (state) => {
      expect(sentence({ search: answered(state) })).toMatch(
        /looked through.*: it never came, or it is under way\. Check the ID and the write key\.$/,
      );
    },
  );

  it("may still be found while control reads: nobody is told that it never came", () => {
    for (const search of [null, ...(["searched", "stopped", "busy", "failed"] as const).map(answered)]) {
      const reported = sentence({ search, isComplete: false, origin: "1:78" });
      expect(reported).toMatch(/^No event with this ID at 1:78 of the events yet: control is still reading /);
      expect(reported).toMatch(/ the last 7 days, and .*\. Ask again soon\.$/);
      expect(reported).not.toContain("never came");
    }
  });

  it("is told of a user whose events a deletion request stopped as that, read or not", () => {
    for (const isComplete of [true, false]) {
      expect(tellNothing("suppressed", searched({ isComplete })).sentence).toBe(
        "Not delivered: a deletion request stopped the user's events.",
      );
    }
    const hiddenBy = { state: "in_force", id: "ticket-1", requestedAtMs: 0 } as const;
    expect(tellNothing("suppressed", searched({ hiddenBy }))).toEqual({
      sentence: "Not delivered: the deletion request ticket-1 of 1970-01-01T00:00:00.000Z stopped the user's events.",
      command: "posthaste deletions get ticket-1",
    });
  });
});
