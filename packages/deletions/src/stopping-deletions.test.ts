import type { Deletion } from "@posthaste/core/deletion/deletion";
import { Problem } from "@posthaste/http-kit/problem";
import { describe, expect, it } from "vitest";
import { StoppingDeletions, userDigest } from "./stopping-deletions.ts";

const ADA = userDigest("src_1", "ada");
const STOPPED_MS = 5000;

function deletion(id: string, createdAtMs: number, differing: Partial<Deletion> = {}): Deletion {
  return {
    ...{ id, createdAtMs, state: "sent", sentAtMs: createdAtMs, suppress: true, suppressionEndsAtMs: null },
    ...{ content: id, userIds: ["bob", "ada"], sourceIds: ["src_1", "src_2"], receivers: [] },
    ...differing,
  };
}

interface Terms {
  readonly atMs?: number | null;
  readonly digests?: readonly string[];
  readonly inForce?: boolean;
  readonly read?: (id: string) => Promise<Deletion>;
}

/** Returns the request found among these requests, and the ids of the requests that were read for it. */
async function found(on: readonly Deletion[], terms: Terms = {}) {
  const { atMs = STOPPED_MS, digests = [ADA], inForce = true } = terms;
  const asked: string[] = [];
  const read = async (id: string): Promise<Deletion> => {
    asked.push(id);
    const whole = on.find((each) => each.id === id);
    if (whole === undefined) throw new Problem("not_found", id);
    return whole;
  };
  const lines = on.map(({ userIds, ...line }) => ({ ...line, users: userIds.length }));
  const stopping = new StoppingDeletions({
    store: { values: () => lines, read: terms.read ?? read },
    suppressed: { size: inForce ? 1 : 0, hasDigest: (digest) => inForce && digest === ADA },
    patienceMs: 20,
  });
  return { ...(await stopping.find({ sourceId: "src_1", digests, atMs })), asked };
}

describe("the deletion request that stopped an event", () => {
  const three = [deletion("old", 1000), deletion("last", 4000), deletion("later", 6000)];

  it("is the newest of those from before, whichever others name the user", async () => {
    expect(await found(three)).toMatchObject({ state: "in_force", id: "last", requestedAtMs: 4000 });
    const [old, , later] = three;
    expect(await found([deletion("later still", 7000), ...three.slice(2)])).toMatchObject({ id: later?.id });
    expect(await found([deletion("last", 4000, { userIds: ["bob"] }), ...three.slice(0, 1)])).toMatchObject({
      id: old?.id,
    });
  });

  it("is the newest of all where a user is suppressed now", async () => {
    expect(await found(three, { atMs: null })).toMatchObject({ state: "in_force", id: "later" });
  });

  it("is none that suppresses nobody, or is of other sources; those are not read", async () => {
    const others = [
      deletion("tells", 4000, { suppress: false }),
      deletion("elsewhere", 4000, { sourceIds: ["src_2"] }),
    ];
    expect(await found([...others, deletion("old", 1000)])).toMatchObject({ id: "old", asked: ["old"] });
    expect(await found(others)).toEqual({ state: "gone", asked: [] });
  });

  it("is found behind many others", async () => {
    const others = Array.from({ length: 30 }, (_, at) => deletion(`other-${at}`, 2000 + at, { userIds: ["bob"] }));
    expect(await found([...others, deletion("old", 1000)])).toMatchObject({ id: "old" });
  });

  it("says that it ended where the user is not suppressed any more", async () => {
    expect(await found(three, { inForce: false })).toMatchObject({ state: "ended", id: "last" });
  });

  it("is gone where none on record names the user, and not known where nobody knows whose event it was", async () => {
    expect(await found([deletion("of bob", 1000, { userIds: ["bob"] })])).toMatchObject({ state: "gone" });
    expect(await found(three, { digests: [] })).toEqual({ state: "not_known", asked: [] });
  });

  it.each([
    ["refuse", () => Promise.reject(new Problem("unavailable", "away"))],
    ["do not answer", () => new Promise<Deletion>(() => undefined)],
  ])("could not be looked up where the brokers %s", async (_, read) => {
    expect(await found(three, { read })).toMatchObject({ state: "not_looked_up" });
  });
});
