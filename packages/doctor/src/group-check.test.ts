import type { GroupMembers } from "@posthaste/kafka/topics/group-members";
import { describe, expect, it } from "vitest";
import { groupCheck, offsetCheck } from "./group-check.ts";
import type { CommittedRange } from "./group-topics.ts";

describe("the check of the groups", () => {
  const partitions = ["p.events/0", "p.events/1"];
  const look = (found: Partial<GroupMembers> | null, of: readonly string[] = partitions) => {
    const settled = { groupId: "p.router", isSettled: true, members: 1, owned: new Set(of) };
    return groupCheck({
      groups: async () => [{ groupId: "p.router", service: "router", partitions: of }],
      members: async () => (found === null ? [] : [{ ...settled, ...found }]),
    }).look();
  };

  it("finds nothing where members own every partition, while they are dealt out, and where there is none", async () => {
    expect(await look({})).toEqual([]);
    expect(await look({ isSettled: false, owned: new Set() })).toEqual([]);
    expect(await look({ members: 0 }, [])).toEqual([]);
  });

  it("names a group that nobody is a member of, with the command that shows it", async () => {
    for (const found of [null, { members: 0, owned: new Set<string>() }]) {
      expect(await look(found)).toMatchObject([
        {
          state: "wrong",
          what: "No process is a member of p.router: nobody reads its topics.",
          remedy: expect.stringMatching(/^Start router.*--describe --group p\.router$/),
        },
      ]);
    }
  });

  it("names a partition that no member owns", async () => {
    const what = async (owned: readonly string[]) => (await look({ owned: new Set(owned) })).map((each) => each.what);
    expect(await what(["p.events/0"])).toEqual(["No member of p.router owns p.events/1."]);
    expect(await what([])).toEqual(["No member of p.router owns 2 partitions, p.events/0 among them."]);
  });
});

describe("the check of the offsets", () => {
  const RANGE = { topic: "p.events", topicId: null, partition: 3, start: 7, end: 9, finishedRuns: [], deleted: null };
  const look = (range: Partial<CommittedRange>) =>
    offsetCheck(async () => [{ ...RANGE, groupId: "p.router", ...range }], ["p.delivery"]).look();
  const deleted = { from: 2, records: 5 };

  it("finds nothing inside the log, its end included", async () => {
    expect(await look({})).toEqual([]);
    expect(await look({ start: 9 })).toEqual([]);
  });

  it("names a commit beyond the log, and records that were deleted before the router finished them", async () => {
    expect(await look({ start: 10 })).toMatchObject([
      { state: "wrong", what: "p.router committed offset 10 of p.events/3, whose log ends at 9." },
    ]);
    expect(await look({ deleted })).toMatchObject([
      { state: "wrong", what: "5 records of p.events/3 were deleted before p.router finished them." },
    ]);
  });

  it("leaves the deliveries that were deleted to the losses", async () => {
    expect(await look({ deleted, groupId: "p.delivery" })).toEqual([]);
  });
});
