import type { Destination } from "@posthaste/core/config/destination";
import type { Source } from "@posthaste/core/config/source";
import { describe, expect, it } from "vitest";
import { type DeletionContext, type DeletionInput, deletionInput, toDeletion } from "./deletion-input.ts";

const source = (id: string, enabled = true): Source => ({ id, enabled }) as Partial<Source> as Source;
const destination = (id: string, sourceIds: readonly string[], enabled = true): Destination =>
  ({ id, sourceIds, enabled }) as Partial<Destination> as Destination;

const context: DeletionContext = {
  sources: [source("src_1"), source("src_2"), source("src_off", false)],
  destinations: [
    destination("dst_b", ["src_1"]),
    destination("dst_a", ["src_1", "src_off"]),
    destination("dst_off", ["src_2"], false),
  ],
  nowMs: 1000,
  suppressionMs: 500,
};
const make = (input: Partial<DeletionInput>, differing: Partial<DeletionContext> = {}) =>
  toDeletion({ suppress: false, ...input }, { ...context, ...differing });

describe("a deletion request", () => {
  it("takes no user id that UTF-8 cannot write: two of them would be one user", () => {
    for (const input of [{ userId: "a\ud800" }, { userIds: ["u", "\udfff"] }]) {
      const [issue] = deletionInput.safeParse(input).error?.issues ?? [];
      expect(issue?.message).toMatch(/half of a surrogate pair/);
    }
  });

  it("concerns the enabled sources, notifies their enabled destinations, of named sources alone", () => {
    expect(make({ userId: "u" })).toMatchObject({
      sourceIds: ["src_1", "src_2"],
      receivers: [{ sourceId: "src_1", destinationIds: ["dst_a", "dst_b"] }],
    });
    expect(make({ userId: "u", sourceIds: ["src_off", "src_off"] })).toMatchObject({
      sourceIds: ["src_off"],
      receivers: [{ sourceId: "src_off", destinationIds: ["dst_a"] }],
    });
  });

  it("is the same by its users in their order, its sources as they were named, and whether it suppresses", () => {
    const { content } = make({ userIds: ["u", "v"] });
    const others = [
      make({ userIds: ["v", "u"] }),
      make({ userIds: ["u", "v"], suppress: true }),
      make({ userIds: ["u", "v"], sourceIds: ["src_1", "src_2"] }),
    ];
    expect(new Set([content, ...others.map((other) => other.content)]).size).toBe(4);
    // Neither the present sources nor the time of the request change anything.
    const later = make({ userIds: ["u", "u", "v"], id: "other" }, { sources: [], nowMs: 2000 });
    expect(later.content).toBe(content);
  });

  it("suppresses for as long as the setting says, and for good without one", () => {
    expect(make({ userId: "u", suppress: true }).suppressionEndsAtMs).toBe(1500);
    expect(make({ userId: "u", suppress: true }, { suppressionMs: null }).suppressionEndsAtMs).toBeNull();
    expect(make({ userId: "u" }).suppressionEndsAtMs).toBeNull();
  });

  it("is refused for more users of more sources than one request can be", () => {
    const sources = Array.from({ length: 11 }, (_, index) => source(`src_${index}`));
    const userIds = Array.from({ length: 5000 }, (_, index) => `u-${index}`);
    const message = "5000 users of 11 sources are too many for one request: users times sources are 50000 at the most";
    expect(() => make({ userIds }, { sources })).toThrow(`userIds: ${message}`);
    expect(make({ userIds }, { sources: sources.slice(1) }).sourceIds).toHaveLength(10);
  });
});
