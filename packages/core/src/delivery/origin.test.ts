import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_STATE_BYTES } from "../window/commit-metadata.ts";
import {
  condenseOrigins,
  type Dropped,
  decodeOriginCheckpoint,
  NO_TOPIC_GENERATION,
  OriginCheckpoint,
  type OriginOfDelivery,
  originTopicGenerationOf,
} from "./origin.ts";

const delivery = (originIncarnation: number, originPartition: number, originOffset: number, destinationId: string) => ({
  originIncarnation,
  originPartition,
  originOffset,
  destinationId,
});

/** The records of one events partition in one deliveries partition: rising offsets, some with several destinations. */
const written = fc
  .array(fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"), { minLength: 0, maxLength: 4 }), { maxLength: 12 })
  .map((events) => events.flatMap((ids, offset) => ids.sort().map((id) => ({ offset, id }))));

/** A log that one writer began, and others (after crashes, or zombies) wrote again from earlier points on. */
const log = fc.tuple(written, fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 5 })).map(([sequence, rewinds]) => {
  const records = [...sequence];
  for (const [from, length] of rewinds) {
    const start = sequence.length === 0 ? 0 : from % sequence.length;
    records.push(...sequence.slice(start, start + (length % 8)));
  }
  return { sequence, records };
});

function passed(records: readonly OriginOfDelivery[], checkpoint = new OriginCheckpoint()): OriginOfDelivery[] {
  return records.filter((record) => {
    const isNew = !checkpoint.isRepeat(record);
    checkpoint.note(record);
    return isNew;
  });
}

describe("repeats by origin", () => {
  it("D2: every delivery passes exactly once, whoever wrote it again", () => {
    fc.assert(
      fc.property(log, ({ sequence, records }) => {
        const all = records.map(({ offset, id }) => delivery(1, 0, offset, id));
        expect(passed(all)).toEqual(sequence.map(({ offset, id }) => delivery(1, 0, offset, id)));
      }),
    );
  });

  it("D2: events partitions and topic generations are told apart", () => {
    const records = [delivery(1, 0, 5, "a"), delivery(1, 1, 5, "a"), delivery(2, 0, 5, "a"), delivery(1, 0, 6, "a")];
    expect(passed(records)).toEqual(records);
    expect(passed([delivery(2, 0, 5, "a"), delivery(1, 0, 5, "a"), delivery(1, 0, 5, "a")])).toHaveLength(2);
  });

  it("D3: a checkpoint that was saved at any record and read back goes on as if nothing had happened", () => {
    fc.assert(
      fc.property(log, fc.nat(), fc.constantFrom("", "~,. ü", "dst_"), ({ records }, cut, prefix) => {
        const all = records.map(({ offset, id }) => delivery(3, 2, offset, `${prefix}${id}`));
        const at = all.length === 0 ? 0 : cut % all.length;
        const before = new OriginCheckpoint();
        const first = passed(all.slice(0, at), before);
        const rest = passed(all.slice(at), decodeOriginCheckpoint(before.encode()));
        expect([...first, ...rest]).toEqual(passed(all));
      }),
    );
  });

  it("D2: holds nothing against writers that place deliveries on another number of partitions", () => {
    // A router of five partitions wrote event 100 here and died before it wrote event 97, which lay elsewhere; its
    // successor places on six, and event 97 belongs here.
    const checkpoint = new OriginCheckpoint();
    checkpoint.note(delivery(originTopicGenerationOf(7, 5), 0, 100, "a"));
    expect(checkpoint.isRepeat(delivery(originTopicGenerationOf(7, 6), 0, 97, "a"))).toBe(false);
    expect(checkpoint.isRepeat(delivery(originTopicGenerationOf(7, 5), 0, 97, "a"))).toBe(true);
  });

  it("D2: a new events topic has a higher topic generation, however many partitions deliveries have", () => {
    expect(originTopicGenerationOf(8, 1)).toBeGreaterThan(originTopicGenerationOf(7, 65_535));
    expect(Number.isSafeInteger(originTopicGenerationOf(Math.floor(4e12 / 1000), 65_535))).toBe(true);
  });

  it("D2: writes one number for a log and a number of partitions in every release", () => {
    expect(originTopicGenerationOf(2, 3)).toBe(131_075);
  });

  it("O3: a replay is never a repeat and hides nothing", () => {
    const replayed = delivery(NO_TOPIC_GENERATION, 0, 0, "a");
    const checkpoint = new OriginCheckpoint();
    expect(passed([replayed, replayed], checkpoint)).toHaveLength(2);
    expect(checkpoint.encode()).toBe("");
  });

  it("O2: holds the two newest topic generations of a partition, so that its state stays small", () => {
    const checkpoint = new OriginCheckpoint();
    for (let topicGeneration = 1; topicGeneration <= 50; topicGeneration++)
      checkpoint.note(delivery(topicGeneration, 0, 9, "a"));
    for (const each of [checkpoint, decodeOriginCheckpoint(checkpoint.encode())]) {
      expect([50, 49, 48, 1].map((topicGeneration) => each.isRepeat(delivery(topicGeneration, 0, 9, "a")))).toEqual([
        true,
        true,
        false,
        false,
      ]);
    }
  });

  it("D3: text that cannot be read costs repeats and never throws", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(() => decodeOriginCheckpoint(text)).not.toThrow();
      }),
    );
    // An id that is damaged is none: the deliveries of that one event count as new.
    const checkpoint = new OriginCheckpoint();
    checkpoint.note(delivery(1, 1, 5, "a%b"));
    const damaged = decodeOriginCheckpoint(checkpoint.encode().replace("%25", "%FF"));
    expect(damaged.isRepeat(delivery(1, 1, 5, "a"))).toBe(false);
    expect(damaged.isRepeat(delivery(1, 1, 4, "z"))).toBe(true);
  });
});

describe("the text of a checkpoint that is damaged", () => {
  /** Two events partitions at offsets 100 and 105; of an id that does not fit none is written. */
  const textOf = (id: string) => {
    const checkpoint = new OriginCheckpoint();
    checkpoint.note(delivery(1, 0, 100, id));
    checkpoint.note(delivery(1, 1, 105, id));
    return checkpoint.encode();
  };

  it("tells nothing of a group that holds what none is written in", () => {
    expect(textOf("a")).toBe("a;1:2s:BBAABAFB");
    for (const damaged of ["a;!1:2s:BBAABAFB", "a;1:2s:BBAABAFB!"]) {
      expect(decodeOriginCheckpoint(damaged).isRepeat(delivery(1, 0, 1, "a"))).toBe(false);
    }
  });

  it("tells nothing of an entry that is cut off within its offset or its id", () => {
    const withoutIds = textOf("x".repeat(5000));
    for (const text of [textOf("a"), withoutIds]) {
      const whole = decodeOriginCheckpoint(text);
      expect([0, 1].map((partition) => whole.isRepeat(delivery(1, partition, 99, "a")))).toEqual([true, true]);
      const cut = decodeOriginCheckpoint(text.slice(0, -1));
      expect([0, 1].map((partition) => cut.isRepeat(delivery(1, partition, 99, "a")))).toEqual([true, false]);
    }
  });

  it("is read to its end where it has neither ids nor offsets apart", () => {
    const checkpoint = new OriginCheckpoint();
    checkpoint.note(delivery(1, 3, 100, "x".repeat(5000)));
    expect(checkpoint.encode()).toBe(";1:2s:AAD");
    const back = decodeOriginCheckpoint(checkpoint.encode());
    expect([99, 100].map((offset) => back.isRepeat(delivery(1, 3, offset, "a")))).toEqual([true, false]);
  });
});

describe("the checkpoint's text (O4)", () => {
  const origins = fc.array(
    fc.record({
      originIncarnation: fc.constantFrom(7, 8),
      originPartition: fc.nat(1200),
      originOffset: fc.oneof(fc.nat(100_000), fc.maxSafeNat()),
      destinationId: fc.oneof(fc.constantFrom("a", "dst_0123456789abcdefghij"), fc.string({ minLength: 1 })),
    }),
    { maxLength: 1500, size: "max" },
  );

  it("fits whatever stands in it, and what it lacks costs repeats and never a record", () => {
    fc.assert(
      fc.property(origins, origins, (notedFirst, asked) => {
        const leftOut: Dropped[] = [];
        const checkpoint = new OriginCheckpoint((what) => leftOut.push(what));
        for (const each of notedFirst) checkpoint.note(each);
        const text = checkpoint.encode();
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_STATE_BYTES);
        const back = decodeOriginCheckpoint(text);
        for (const each of [...notedFirst, ...asked]) {
          if (back.isRepeat(each)) expect(checkpoint.isRepeat(each)).toBe(true);
          // Where nothing was left out it is exact.
          if (leftOut.length === 0) expect(back.isRepeat(each)).toBe(checkpoint.isRepeat(each));
        }
      }),
      { numRuns: 60 },
    );
  });

  const filled = (partitions: number, offsetOf: (partition: number) => number, destinations: number) => {
    const leftOut: Dropped[] = [];
    const checkpoint = new OriginCheckpoint((what) => leftOut.push(what));
    for (let partition = 0; partition < partitions; partition++) {
      const id = `dst_0123456789abcdef${String(partition % destinations).padStart(4, "0")}`;
      checkpoint.note(delivery(1_700_000_000 * 65_536, partition, offsetOf(partition), id));
    }
    return { checkpoint, leftOut, back: decodeOriginCheckpoint(checkpoint.encode()) };
  };

  it("holds 256 events partitions whole, however far apart their offsets are, and the ids of 40 destinations", () => {
    const { leftOut } = filled(256, (partition) => partition * 200_000_000, 38);
    expect(leftOut).toEqual([]);
  });

  it("leaves out destination ids first: of an events partition's last event every delivery counts as new then", () => {
    const { leftOut, back } = filled(256, () => 5_000_000_000, 256);
    expect(leftOut).toHaveLength(1);
    expect(leftOut[0]).toMatchObject({ entries: 0, destinationIds: expect.any(Number) });
    for (let partition = 0; partition < 256; partition++) {
      expect(back.isRepeat(delivery(1_700_000_000 * 65_536, partition, 4_999_999_999, "z"))).toBe(true);
    }
  });

  it("keeps the ids of the most entries, as many as fit", () => {
    const checkpoint = new OriginCheckpoint();
    const common = "dst_common_0123456789abc";
    for (let partition = 0; partition < 256; partition++) {
      const id = partition < 156 ? `dst_0123456789abcdef${String(partition).padStart(4, "0")}` : common;
      checkpoint.note(delivery(9, partition, 5_000_000_000, id));
    }
    const text = checkpoint.encode();
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_STATE_BYTES);
    expect(Buffer.byteLength(text)).toBeGreaterThan(MAX_STATE_BYTES - 50);
    const back = decodeOriginCheckpoint(text);
    for (let partition = 156; partition < 256; partition++) {
      expect(back.isRepeat(delivery(9, partition, 5_000_000_000, common))).toBe(true);
    }
  });

  it("is as full as it may be where the partitions that are held lie far apart", () => {
    const checkpoint = new OriginCheckpoint();
    for (let each = 0; each < 1500; each++) checkpoint.note(delivery(9, each * 40, 5_000_000_000 + (each % 4000), "a"));
    const bytes = Buffer.byteLength(checkpoint.encode());
    expect(bytes).toBeLessThanOrEqual(MAX_STATE_BYTES);
    expect(bytes).toBeGreaterThan(MAX_STATE_BYTES - 50);
  });

  it("leaves out then the partitions that were noted longest ago", () => {
    const { leftOut, back } = filled(2000, (partition) => (partition * 7919) % 1_000_003, 1);
    const held = Array.from({ length: 2000 }, (_, partition) =>
      back.isRepeat(delivery(1_700_000_000 * 65_536, partition, 0, "a")),
    );
    const count = held.filter(Boolean).length;
    expect(count).toBeGreaterThan(500);
    expect(held.slice(-count)).not.toContain(false);
    expect(leftOut).toMatchObject([{ entries: 2000 - count }]);
  });
});

it("D3: condensed origins leave a checkpoint as all of them would, in any order", () => {
  const origin = fc.record({
    originIncarnation: fc.constantFrom(NO_TOPIC_GENERATION, 1, 2, 3, 4),
    originPartition: fc.nat(3),
    originOffset: fc.nat(5),
    destinationId: fc.constantFrom("a", "b", "c"),
  });
  fc.assert(
    fc.property(fc.array(origin, { maxLength: 200 }), fc.array(origin), (origins, asked) => {
      const [all, condensed] = [new OriginCheckpoint(), new OriginCheckpoint()];
      for (const each of origins) all.note(each);
      const few = condenseOrigins(origins);
      expect(few.length).toBeLessThanOrEqual(20);
      for (const each of few.reverse()) condensed.note(each);
      for (const each of asked) expect(condensed.isRepeat(each)).toBe(all.isRepeat(each));
    }),
  );
});
