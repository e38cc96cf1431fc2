import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { MessageIndex } from "./message-index.ts";

const SEGMENT_ENTRIES = 5;

describe("an index by message", () => {
  let database: DatabaseSync;

  beforeEach(() => {
    database = new DatabaseSync(":memory:");
    database.exec("CREATE TABLE things (number INTEGER, message_id TEXT, destination_id TEXT, segment INTEGER)");
  });

  const open = () => new MessageIndex(database, "things", SEGMENT_ENTRIES);

  function add(index: MessageIndex, number: number, messageId: string): void {
    database.prepare("INSERT INTO things VALUES (?, ?, 'a', ?)").run(number, messageId, index.newest);
    index.added(messageId);
  }

  it("finds every entry of a message and no other, over its segments, and when it is opened again (MI2)", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 3, unit: fc.constantFrom("a", "b", "é", "\u{1f4e6}") })),
        (messages) => {
          database.exec("DELETE FROM things");
          const index = open();
          for (const [number, messageId] of messages.entries()) add(index, number, messageId);
          for (const opened of [index, open()]) {
            for (const messageId of new Set([...messages, "other"])) {
              const expected = [...messages.keys()].filter((number) => messages[number] === messageId);
              expect(opened.rows("number", messageId).map(({ number }) => number)).toEqual(expected);
              const half = opened.rows("number", messageId, "number % ? = 0", 2).map(({ number }) => number);
              expect(half).toEqual(expected.filter((number) => number % 2 === 0));
            }
          }
        },
      ),
    );
  });

  it("begins a segment when the newest is full, also where it was opened again, and looks for a message in few (MI1)", () => {
    let index = open();
    for (let number = 0; number < 12; number += 1) {
      if (number === 7) index = open();
      add(index, number, `message ${number}`);
    }
    const perSegment = database.prepare("SELECT count(*) AS entries FROM things GROUP BY segment ORDER BY segment");
    expect(perSegment.all().map(({ entries }) => entries)).toEqual([5, 5, 2]);
    // The next opening reads the messages of the newest alone.
    const kept = database.prepare("SELECT segment FROM things_filters ORDER BY segment").all();
    expect(kept.map(({ segment }) => segment)).toEqual([0, 1]);
    expect(index.segmentsOf(["message 0", "message 11"])).toBe("[0,2]");
    expect(index.segmentsOf(["another"])).toBe("[]");
  });

  it("goes on from the newest segment where that was full and every entry is gone (MI3)", () => {
    const index = open();
    for (let number = 0; number < 10; number += 1) add(index, number, "same");
    database.exec("DELETE FROM things");
    index.trim();
    expect(index.segmentsOf(["same"])).toBe("[1]");
    add(index, 10, "same");
    expect(index.segmentsOf(["same"])).toBe("[1,2]");
    index.trim();
    expect(index.segmentsOf(["same"])).toBe("[2]");
    expect(open().rows("number", "same")).toEqual([{ number: 10 }]);
  });

  it("finds more entries of a message than a call can have arguments", () => {
    const index = open();
    add(index, 0, "same");
    database.exec(`INSERT INTO things
      WITH numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 149999)
      SELECT n, 'same', 'a', 0 FROM numbers`);
    expect(index.rows("number", "same")).toHaveLength(150_000);
  });

  it("gives up the segments whose entries are gone (MI3)", () => {
    const index = open();
    for (let number = 0; number < 12; number += 1) add(index, number, "same");
    expect(index.segmentsOf(["same"])).toBe("[0,1,2]");
    database.exec("DELETE FROM things WHERE number < 5");
    index.trim();
    expect(index.segmentsOf(["same"])).toBe("[1,2]");
    expect(open().segmentsOf(["same"])).toBe("[1,2]");
    database.exec("DELETE FROM things");
    index.trim();
    expect(index.segmentsOf(["same"])).toBe("[2]");
    add(index, 0, "same");
    expect(index.rows("number", "same")).toHaveLength(1);
  });
});
