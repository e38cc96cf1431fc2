import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import {
  mostBesideCalls,
  mostCalls,
  mostExpandedBytes,
  mostOfBrotli,
  mostRefusedLength,
  saysTooMuch,
} from "./inflated-body.ts";

const bodyOf = (unit: string, times: number) => Buffer.from(`{"batch":[${unit.repeat(times)}0]}`);

describe("a compressed body", () => {
  it.each([
    ["empty objects", "{},", 170_000, 545],
    ["empty arrays", "[],", 170_000, 545],
    ["objects in one another", `{"a":`, 100_000, 300],
    ["numbers", "1,", 250_000, 534],
    ["keys with escapes", `{"\\n":0},`, 50_000, 928],
    ["the same call, of 40 bytes", `{"type":"track","userId":"u","event":"E"},`, 12_000, 1_554],
    ["halves of surrogate pairs", `"${"\\ud800".repeat(1_000)}",`, 83, 700],
    ["the same number, fewer than values may be", "1,", 4_000, 40],
  ])("of half a megabyte of %s says too much for its size", (_what, unit, times, sentBytes) => {
    expect(saysTooMuch(bodyOf(unit, times), sentBytes)).toBe(true);
    expect(saysTooMuch(bodyOf(unit, times), 200_000)).toBe(false);
  });

  it.each([
    ["the same call, of 1 KB", `{"a":{},"b":{"c":{"d":1,"e":2}},"f":"${"x".repeat(980)}"},`, 480, 1_500],
    ["lists in a call and keys beside the calls", `{"a":[${"1,".repeat(40)}1]},`, 480, 3_000],
    ["brackets and commas in texts", `"${"{[,".repeat(1_600)}\\"${"{[,".repeat(60)}",`, 100, 600],
  ])("of half a megabyte of %s does not", (_what, unit, times, sentBytes) => {
    expect(saysTooMuch(bodyOf(unit, times), sentBytes)).toBe(false);
  });

  it("has as many escapes in its texts as its size allows, and not one more", () => {
    const textOf = (escapes: number) => Buffer.from(`{"a":"${"\\n".repeat(escapes)}${"x".repeat(2_000)}"}`);
    expect(saysTooMuch(textOf(4_096 + 80), 10)).toBe(false);
    expect(saysTooMuch(textOf(4_096 + 81), 10)).toBe(true);
  });

  it("has as many values as its size allows, and not one more, in however few lists they stand", () => {
    const listOf = (values: number) => Buffer.from(`{"a":{"b":[${"1,".repeat(values - 1)}1]}}`);
    expect(saysTooMuch(listOf(4_096 + 8 * 40 + 1), 40)).toBe(false);
    expect(saysTooMuch(listOf(4_096 + 8 * 40 + 2), 40)).toBe(true);
  });

  it("has half as many texts with escapes as values, and a ninth as many keys with them", () => {
    const of = (members: number, member: (n: number) => string) =>
      Buffer.from(`{"a":{${Array.from({ length: members }, (_, n) => member(n)).join(",")}}}`);
    const texts = (count: number) => of(count, (n) => `"a${n}":"\\u0061 ${n}, of some letters"`);
    expect(saysTooMuch(texts(2_048 + 4 * 40), 40)).toBe(false);
    expect(saysTooMuch(texts(2_048 + 4 * 40 + 1), 40)).toBe(true);
    for (const blank of ["", " ", "\n\t"]) {
      const keys = (count: number) => of(count, (n) => `"\\u0061${n}"${blank}:0`);
      const most = Math.floor((4_096 + 8 * 40 + 1) / 9);
      expect(saysTooMuch(keys(most), 40)).toBe(false);
      expect(saysTooMuch(keys(most + 1), 40)).toBe(true);
    }
  });

  it("of calls that differ in their ids may have twenty keys with escapes in each, as some clients write all but ASCII", () => {
    const keys = Array.from({ length: 20 }, (_, n) => `"pr\\u00e9nom ${n}":"Zo\\u00eb"`).join(",");
    const call = (n: number) =>
      `{"messageId":"${createHash("md5").update(`${n}`).digest("hex")}","properties":{${keys},"note":"${"x".repeat(500)}"}}`;
    const content = Buffer.from(`{"batch":[${Array.from({ length: 450 }, (_, n) => call(n)).join(",")}]}`);
    const sent = gzipSync(content, { level: 9 }).length;
    // Below that nothing is counted.
    expect(content.length).toBeGreaterThan(32 * sent);
    expect(saysTooMuch(content, sent)).toBe(false);
  });

  it("has as many objects and lists as its size allows, and not one more", () => {
    const listsOf = (lists: number) => Buffer.from(`{"a":{"b":[${"[],".repeat(lists - 4)}[]]}}`);
    expect(saysTooMuch(listsOf(1_024 + 16 * 40), 40)).toBe(false);
    expect(saysTooMuch(listsOf(1_024 + 16 * 40 + 1), 40)).toBe(true);
  });

  it.each(["1", " "])("has as many of %j outside of its texts as its size allows, and not one more", (letter) => {
    const bodyOf = (letters: number) =>
      Buffer.from(`{"a":"${"1 ".repeat(9_000)}","b":[${letter.repeat(letters)}],"c":""}`);
    expect(saysTooMuch(bodyOf(32_768 + 512 * 40), 40)).toBe(false);
    expect(saysTooMuch(bodyOf(32_768 + 512 * 40 + 1), 40)).toBe(true);
  });

  it("has no more than three fifths of a second kind of thing beside all of another", () => {
    // Of 100 bytes sent: 2,624 objects and lists, 4,896 values, 153 calls.
    const bodyOf = (calls: number, values: number, containers: number) =>
      Buffer.from(
        `{"batch":[${Array(calls).fill("{}").join(",")}],"a":{"b":[${'"",'.repeat(values)}""],"c":[${"[]".repeat(containers)}]},"d":"${"x".repeat(9_000)}"}`,
      );
    expect(saysTooMuch(bodyOf(1, 4_800, 0), 100)).toBe(false);
    expect(saysTooMuch(bodyOf(1, 0, 2_600), 100)).toBe(false);
    expect(saysTooMuch(bodyOf(150, 0, 0), 100)).toBe(false);
    expect(saysTooMuch(bodyOf(150, 2_200, 0), 100)).toBe(false);
    expect(saysTooMuch(bodyOf(150, 2_700, 0), 100)).toBe(true);
    expect(saysTooMuch(bodyOf(100, 2_000, 1_200), 100)).toBe(false);
    expect(saysTooMuch(bodyOf(100, 2_000, 1_700), 100)).toBe(true);
    const escapes = (count: number) =>
      bodyOf(150, 500, 0)
        .toString()
        .replace('"x', `"${"\\n".repeat(count)}x`);
    expect(saysTooMuch(Buffer.from(escapes(1_700)), 100)).toBe(false);
    expect(saysTooMuch(Buffer.from(escapes(2_800)), 100)).toBe(true);
    const digits = (count: number) =>
      bodyOf(150, 500, 0)
        .toString()
        .replace('"",', `${"1".repeat(count)},`);
    expect(saysTooMuch(Buffer.from(digits(30_000)), 100)).toBe(false);
    expect(saysTooMuch(Buffer.from(digits(48_000)), 100)).toBe(true);
  });

  it("of calls that differ in their ids may be written with as many blanks as anyone writes", () => {
    const call = { type: "track", userId: "u", event: "E", properties: { a: { b: { c: [1, 2, 3] } }, d: 0.1 } };
    const batch = Array.from({ length: 900 }, (_, n) => ({
      ...call,
      messageId: createHash("md5").update(`${n}`).digest("hex"),
    }));
    const content = Buffer.from(JSON.stringify({ batch }, null, 8));
    expect(content.length).toBeGreaterThan(500_000);
    const sent = gzipSync(content, { level: 9 }).length;
    // As if it had come in a tenth of its bytes.
    expect(saysTooMuch(content, sent)).toBe(false);
    expect(content.length).toBeLessThan(32_768 + 512 * (sent / 10));
  });

  it("that is small may say anything", () => {
    expect(saysTooMuch(Buffer.from(`{"batch":[[${"{},".repeat(1_000)}0]]}`), 40)).toBe(false);
    expect(saysTooMuch(Buffer.from(`{"a":{"b":[${"1,".repeat(4_000)}1]}}`), 40)).toBe(false);
  });

  it("has as many calls as its size allows, and not one more, wherever its calls stand", () => {
    const batchOf = (calls: number) =>
      Buffer.from(
        `{"a":{${'"k":0,'.repeat(500)}"k":0},"batch":[${Array(calls).fill(`{"a":[1,2]}`).join(",")}],"b":[]}`,
      );
    expect(mostCalls(40)).toBe(138);
    expect(saysTooMuch(batchOf(138), 40)).toBe(false);
    expect(saysTooMuch(batchOf(139), 40)).toBe(true);
  });

  it("has fewer calls the more integrations stand beside them, half as many with sixteen", () => {
    expect([mostCalls(40, 16), mostCalls(40, 48), mostCalls(7_488, 60)]).toEqual([69, 34.5, 421.05263157894734]);
  });

  it("may become no more than its size allows, and never more than any body", () => {
    expect([mostExpandedBytes(0), mostExpandedBytes(100), mostExpandedBytes(1_000_000)]).toEqual([
      262_144, 313_344, 8_388_608,
    ]);
  });

  it("may be 336 times its size and 64 KB in brotli, which is more than a real client was seen to send", () => {
    expect([mostOfBrotli(0), mostOfBrotli(100), mostOfBrotli(3_800)]).toEqual([65_536, 99_136, 1_342_336]);
    expect(mostOfBrotli(3_800)).toBeGreaterThan(1_282_482);
    expect([mostRefusedLength(0), mostRefusedLength(100)]).toEqual([65_536, 91_136]);
  });

  it("that is not ASCII may be as many times its size in any encoding", () => {
    const bodyOf = (bytes: number, letter: string) => Buffer.from(`{"a":"${letter}${"x".repeat(bytes)}"}`);
    const room = mostOfBrotli(600) - bodyOf(0, "€").length;
    expect(saysTooMuch(bodyOf(room, "€"), 600)).toBe(false);
    expect(saysTooMuch(bodyOf(room + 1, "€"), 600)).toBe(true);
    expect(saysTooMuch(bodyOf(500_000, "x"), 600)).toBe(false);
  });

  it("has beside its calls what its size allows", () => {
    expect([mostBesideCalls(0), mostBesideCalls(400)]).toEqual([32_768, 58_368]);
  });

  it("ends in the middle of a text without harm", () => {
    expect(saysTooMuch(Buffer.from(`{"a":"${"x".repeat(10_000)}\\`), 20)).toBe(false);
  });
});
