/** The overview's words for a change. */
import { describe, expect, it } from "vitest";
import { type Change, deedWords } from "../src/audit/change-words.ts";

const NAMES: Readonly<Record<string, string>> = { dst_1: "Billing", src_1: "Shop", rpl_1: "the replay to Billing" };
const nameOf = (id: string) => NAMES[id] ?? id;
const field = (name: string, from: string | null, to: string | null) => ({ field: name, from, to });
const said = (operation: string, target: string, ...changes: Change["changes"]) =>
  deedWords({ operation, target, changes }, nameOf);

describe("a change in words", () => {
  it.each([
    ["createSource", "made Shop"],
    ["nameNextSecret", "named the next secret of Shop"],
    ["switchSecret", "switched the secret of Shop"],
    ["retireSecret", "retired the old secret of Shop"],
    ["undoRotation", "undid a step of the secret's rotation of Shop"],
  ])("is told in the past: %s", (operation, words) => {
    expect(said(operation, "src_1")).toBe(words);
  });

  it("tells what is turned on and off as that, where nothing else was changed", () => {
    expect(said("changeDestination", "dst_1", field("enabled", "false", "true"))).toBe("turned on Billing");
    expect(said("changeDestination", "dst_1", field("enabled", "true", "false"))).toBe("turned off Billing");
    const both = [field("enabled", "true", "false"), field("name", "Bill", "Billing")];
    expect(said("changeDestination", "dst_1", ...both)).toBe("changed Billing");
  });

  it("names what is in no list by the change itself, and else says what it is, but no id", () => {
    expect(said("createToken", "tok_1", field("name", null, "CI"))).toBe("made CI");
    expect(said("removeDestination", "dst_9", field("name", "Old shop", null))).toBe("removed Old shop");
    expect(said("changeDestination", "dst_9", field("enabled", "true", "false"))).toBe("turned off a destination");
    expect(said("setAudienceMembers", "aud_9")).toBe("synced an audience");
    expect(said("endSuppressions", "user:0a1b", field("suppressedOf", "[]", null))).toBe(
      "ended the suppression of a user",
    );
  });

  it("names the destination of what is sent again, and not the record of that", () => {
    const of = (id: string) => field("filter", null, JSON.stringify({ destinationId: id, error: "503" }));
    expect(said("resendDelivery", "rsd_1", field("destinationId", null, "dst_1"))).toBe(
      "sent a delivery to Billing again",
    );
    expect(said("replayDeadLetters", "rpl_2", of("dst_1"))).toBe("replayed dead letters of Billing");
    expect(said("purgeDeadLetters", "rpl_2", of("dst_9"))).toBe("purged dead letters of a destination");
    expect(said("replayDeadLetters", "rpl_2", field("filter", null, "{}"))).toBe(
      "replayed dead letters of several destinations",
    );
    // As releases before this one wrote it: nothing says of how many destinations it was.
    expect(said("replayDeadLetters", "rpl_2", field("want", "planned", "running"))).toBe("replayed dead letters");
    expect(said("pauseReplay", "rpl_1", field("want", "run", "pause"))).toBe("paused the replay to Billing");
  });
});
