import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeOriginFold, NO_LOG_ID, OriginFold, type OriginOfDelivery, originLogIdOf } from "./origin.ts";

const delivery = (originLogId: number, originPartition: number, originOffset: number, destinationId: string) => ({
  originLogId,
  originPartition,
  originOffset,
  destinationId,
});

/** What one events partition becomes in one deliveries partition: rising offsets, some with several destinations. */
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

function passed(records: readonly OriginOfDelivery[], fold = new OriginFold()): OriginOfDelivery[] {
  return records.filter((record) => {
    const isNew = !fold.isRepeat(record);
    fold.note(record);
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

  it("D2: events partitions and log ids are told apart", () => {
    const records = [delivery(1, 0, 5, "a"), delivery(1, 1, 5, "a"), delivery(2, 0, 5, "a"), delivery(1, 0, 6, "a")];
    expect(passed(records)).toEqual(records);
    expect(passed([delivery(2, 0, 5, "a"), delivery(1, 0, 5, "a"), delivery(1, 0, 5, "a")])).toHaveLength(2);
  });

  it("D3: a fold that was saved at any record and read back goes on as if nothing had happened", () => {
    fc.assert(
      fc.property(log, fc.nat(), fc.constantFrom("", "~,. ü", "dst_"), ({ records }, cut, prefix) => {
        const all = records.map(({ offset, id }) => delivery(3, 2, offset, `${prefix}${id}`));
        const at = all.length === 0 ? 0 : cut % all.length;
        const before = new OriginFold();
        const first = passed(all.slice(0, at), before);
        const rest = passed(all.slice(at), decodeOriginFold(before.encode()));
        expect([...first, ...rest]).toEqual(passed(all));
      }),
    );
  });

  it("D2: holds nothing against writers that place deliveries on another number of partitions", () => {
    // A router of five partitions wrote event 100 here and died before it wrote event 97, which lay elsewhere; its
    // successor places on six, and event 97 belongs here.
    const fold = new OriginFold();
    fold.note(delivery(originLogIdOf(7, 5), 0, 100, "a"));
    expect(fold.isRepeat(delivery(originLogIdOf(7, 6), 0, 97, "a"))).toBe(false);
    expect(fold.isRepeat(delivery(originLogIdOf(7, 5), 0, 97, "a"))).toBe(true);
  });

  it("D2: a new events topic has a higher log id, however many partitions deliveries have", () => {
    expect(originLogIdOf(8, 1)).toBeGreaterThan(originLogIdOf(7, 65_535));
    expect(Number.isSafeInteger(originLogIdOf(Math.floor(4e12 / 1000), 65_535))).toBe(true);
  });

  it("O3: a replay is never a repeat and hides nothing", () => {
    const replayed = delivery(NO_LOG_ID, 0, 0, "a");
    const fold = new OriginFold();
    expect(passed([replayed, replayed], fold)).toHaveLength(2);
    expect(fold.encode()).toBe("");
  });

  it("O2: holds the two newest log ids of a partition, so that its state stays small", () => {
    const fold = new OriginFold();
    for (let logId = 1; logId <= 50; logId++) fold.note(delivery(logId, 0, 9, "a"));
    expect(fold.encode().split(",")).toHaveLength(2);
    expect(fold.isRepeat(delivery(50, 0, 9, "a"))).toBe(true);
    expect(fold.isRepeat(delivery(1, 0, 9, "a"))).toBe(false);
  });

  it("D3: text that cannot be read costs repeats and never throws", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(() => decodeOriginFold(text)).not.toThrow();
      }),
    );
    expect(decodeOriginFold("1.0.5.%E0%A4%A,1.1.5.a").isRepeat(delivery(1, 1, 5, "a"))).toBe(true);
  });

  it("fits a commit's metadata beside the offsets, for 64 events partitions", () => {
    const fold = new OriginFold();
    for (let partition = 0; partition < 64; partition++) {
      fold.note(delivery(1, partition, 5_000_000_000, "dst_0123456789abcdefghij"));
    }
    expect(fold.encode().length).toBeLessThan(2800);
  });
});
