import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decodeCommitMetadata,
  encodeCommitMetadata,
  MAX_METADATA_BYTES,
  MAX_METADATA_RUNS,
  MAX_STATE_BYTES,
} from "./commit-metadata.ts";
import type { OffsetRun } from "./offset-tracker.ts";

const NOTHING = { topicId: null, finishedRuns: [], state: null };

/** As Kafka writes it, or none. */
const topicIds = fc.option(fc.stringMatching(/^[A-Za-z0-9_-]{22}$/));

/** A base offset and rising runs above it, apart from one another. */
const placeWithRuns = (maxRuns: number) =>
  fc
    .record({
      base: fc.maxSafeNat().map((n) => Math.floor(n / 2)),
      lengths: fc.array(fc.tuple(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 1, max: 100_000 })), {
        maxLength: maxRuns,
        size: "max",
      }),
    })
    .map(({ base, lengths }) => {
      let at = base;
      const finishedRuns: OffsetRun[] = lengths.map(([unfinished, finished]) => {
        const from = at + unfinished;
        at = from + finished;
        return { from, to: at };
      });
      return { base, finishedRuns };
    });

it("tells that not all that is finished had space", () => {
  const truncated = (runs: number, state: string | null = null) => {
    let calls = 0;
    const finishedRuns = Array.from({ length: runs }, (_, n) => ({ from: 100 + 2 * n, to: 101 + 2 * n }));
    encodeCommitMetadata(7, { topicId: null, finishedRuns, state }, () => (calls += 1));
    return calls;
  };
  expect([truncated(3), truncated(3000), truncated(1, "x".repeat(5000))]).toEqual([0, 1, 1]);
});

describe("a commit's metadata", () => {
  it("reads back what was written, the state's text included", () => {
    fc.assert(
      fc.property(
        placeWithRuns(100),
        topicIds,
        fc.option(fc.string({ unit: "binary" })),
        ({ base, finishedRuns }, topicId, state) => {
          const text = encodeCommitMetadata(base, { topicId, finishedRuns, state });
          expect(decodeCommitMetadata(base, text)).toEqual({ topicId, finishedRuns, state });
        },
      ),
    );
  });

  it("is the empty text when there is nothing to say", () => {
    expect(encodeCommitMetadata(7, NOTHING)).toBe("");
    expect(decodeCommitMetadata(7, "")).toEqual(NOTHING);
    expect(decodeCommitMetadata(7, null)).toEqual(NOTHING);
  });

  it("always fits: runs are cut from the top, and a state that alone does not fit is left out (CM1)", () => {
    const state = fc.option(fc.string({ unit: "binary", maxLength: 5000, size: "max" }));
    fc.assert(
      fc.property(placeWithRuns(3000), topicIds, state, ({ base, finishedRuns }, topicId, text) => {
        const encoded = encodeCommitMetadata(base, { topicId, finishedRuns, state: text });
        expect(Buffer.byteLength(encoded)).toBeLessThanOrEqual(MAX_METADATA_BYTES);
        const decoded = decodeCommitMetadata(base, encoded);
        expect(decoded.topicId).toBe(topicId);
        expect(finishedRuns.slice(0, decoded.finishedRuns.length)).toEqual(decoded.finishedRuns);
        expect([text, null]).toContain(decoded.state);
      }),
      { numRuns: 60 },
    );
  });

  it("has space beside the largest state for what a window of 400 records leaves open", () => {
    const finishedRuns = Array.from({ length: 400 }, (_, index) => ({ from: 20 * index + 1, to: 20 * index + 20 }));
    const whole = { topicId: "t".repeat(22), finishedRuns, state: "s".repeat(MAX_STATE_BYTES) };
    expect(decodeCommitMetadata(0, encodeCommitMetadata(0, whole))).toEqual(whole);
  });

  it.each(["a", "\u007f", "\u0080", "\u07ff", "\u0800", "\uffff", "\u{10000}", "\u{10ffff}"])(
    "keeps a state of %j to the last byte that fits, and none that is a byte longer",
    (character) => {
      const topicId = "t".repeat(22);
      const freeBytes = MAX_METADATA_BYTES - 24 - 23;
      const each = Buffer.byteLength(character);
      const state = character.repeat(Math.floor(freeBytes / each)) + "a".repeat(freeBytes % each);
      expect(decodeCommitMetadata(0, encodeCommitMetadata(0, { topicId, finishedRuns: [], state })).state).toBe(state);
      const runs = [{ from: 1, to: 2 }];
      const longer = encodeCommitMetadata(0, { topicId, finishedRuns: runs, state: `${state}a` });
      expect(decodeCommitMetadata(0, longer)).toEqual({ topicId, finishedRuns: runs, state: null });
    },
  );

  it("has space for exactly as many of the shortest runs as it says", () => {
    const finishedRuns = Array.from({ length: 3000 }, (_, index) => ({ from: 2 * index + 1, to: 2 * index + 2 }));
    const decoded = decodeCommitMetadata(0, encodeCommitMetadata(0, { ...NOTHING, finishedRuns }));
    expect(decoded.finishedRuns).toEqual(finishedRuns.slice(0, MAX_METADATA_RUNS));
  });

  it("keeps a state that fits whole, and gives runs what it leaves", () => {
    const finishedRuns = Array.from({ length: 4000 }, (_, index) => ({ from: 2 * index + 1, to: 2 * index + 2 }));
    const state = "s".repeat(2000);
    const decoded = decodeCommitMetadata(0, encodeCommitMetadata(0, { ...NOTHING, finishedRuns, state }));
    expect(decoded.state).toBe(state);
    expect(decoded.finishedRuns.length).toBeGreaterThan(1000);
  });
});

describe("metadata that cannot be trusted", () => {
  it("counts as nothing beside another offset than its own (CM2)", () => {
    const text = encodeCommitMetadata(100, { topicId: "t", finishedRuns: [{ from: 105, to: 110 }], state: "x" });
    expect(decodeCommitMetadata(101, text)).toEqual(NOTHING);
  });

  it("never makes an unfinished offset finished, however it was damaged (CM2)", () => {
    const damage = fc.record({ at: fc.nat(), character: fc.string({ minLength: 1, maxLength: 1 }), cut: fc.boolean() });
    fc.assert(
      fc.property(placeWithRuns(40), topicIds, fc.string(), damage, ({ base, finishedRuns }, topicId, state, hit) => {
        const text = encodeCommitMetadata(base, { topicId, finishedRuns, state });
        const place = hit.at % text.length;
        const rest = hit.cut ? "" : `${hit.character}${text.slice(place + 1)}`;
        const decoded = decodeCommitMetadata(base, `${text.slice(0, place)}${rest}`);
        expect([NOTHING, { topicId, finishedRuns, state }]).toContainEqual(decoded);
      }),
      { numRuns: 2000 },
    );
  });

  it("is not read as another version's, whose runs stand elsewhere (CM2)", () => {
    const finishedRuns = [{ from: 105, to: 110 }];
    for (const topicId of [null, "t".repeat(22)]) {
      const text = encodeCommitMetadata(100, { topicId, finishedRuns, state: "x" });
      for (const version of [0, 1, 2, 3]) {
        const read = decodeCommitMetadata(100, `${version}${text.slice(1)}`);
        expect(read).toEqual(text.startsWith(String(version)) ? { topicId, finishedRuns, state: "x" } : NOTHING);
      }
    }
  });

  it("is nothing when it was never ours", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.nat(), (text, base) => {
        expect(decodeCommitMetadata(base, text)).toEqual(NOTHING);
      }),
    );
  });
});
