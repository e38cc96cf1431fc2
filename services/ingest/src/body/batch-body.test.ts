/** Rules: CX1 to CX4 of batch-cuts.ts. */
import { MAX_NESTING } from "@posthaste/core/call/json-fragment";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_BATCH_STAND_INS, MAX_CALL_BYTES, MAX_ENVELOPE_BYTES } from "../limits.ts";
import { openBatch } from "./batch-body.ts";
import { cutBatch } from "./batch-cuts.ts";
import { mostBesideCalls } from "./inflated-body.ts";

interface Opened {
  readonly envelope: unknown;
  readonly calls: readonly unknown[];
  readonly count: number;
  readonly runs: number;
  /** Whether a call was not parsed. */
  readonly hasUnparsed: boolean;
}

/** The opened batch, or the code of its refusal. */
function open(text: string): Opened | string {
  const opened = openBatch(Buffer.from(text), text.length);
  if ("refusal" in opened) return opened.refusal.code;
  const { batch, ...envelope } = opened.envelope;
  const list = Array.isArray(batch) ? batch : [];
  const calls: unknown[] = [];
  let runs = 0;
  let hasUnparsed = false;
  for (const run of opened.runsOf(list)) {
    if ("refusal" in run) return run.refusal.code;
    if ("unparsed" in run) calls.push(`${run.unfitness}: ${run.unparsed}`);
    else calls.push(...run.calls);
    hasUnparsed ||= "unparsed" in run;
    runs++;
  }
  return { envelope, calls, count: opened.countOf(list), runs, hasUnparsed };
}

/** As the parser has it; null where it is no JSON, or no object. */
function parsed(text: string): { readonly batch?: unknown } | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

const values = (from: unknown) => (Array.isArray(from) ? from : []);
const FILLING = "x".repeat(9_000);
const call = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.record({
    note: fc.constantFrom(FILLING, `é"\\[{],🚀${FILLING}`, "[[", '"}'),
    value: fc.jsonValue({ maxDepth: 1 }),
  }),
);
const body = fc
  .record(
    {
      before: fc.jsonValue({ maxDepth: 2 }),
      batch: fc.array(call, { maxLength: 30, size: "max" }),
      '"]\\': fc.array(fc.jsonValue({ maxDepth: 1 })),
      context: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 })),
    },
    { requiredKeys: ["batch"] },
  )
  .chain((value) => fc.constantFrom(JSON.stringify(value), JSON.stringify(value, null, 3)))
  .map((text) => text.padEnd(MAX_CALL_BYTES + 1, " "));

describe("a batch that is parsed some calls at a time", () => {
  it("CX1, BX2: is what it is when it is parsed at once", () => {
    fc.assert(
      fc.property(body, (text) => {
        const { batch, ...envelope } = parsed(text) ?? {};
        const opened = open(text);
        if (typeof opened === "string") throw new Error(opened);
        expect(opened.calls).toEqual(batch);
        expect(opened.count).toBe(values(batch).length);
        for (const [name, value] of Object.entries(envelope)) {
          if (!Array.isArray(value)) expect(opened.envelope).toHaveProperty([name], value);
        }
      }),
    );
  });

  it("BX3: is refused where it is no JSON, wherever that is, and nowhere else", () => {
    const damage = fc.record({ at: fc.nat(1_000_000), put: fc.constantFrom(...'[]{},:"\\0ex ', "") });
    fc.assert(
      fc.property(body, damage, (text, { at, put }) => {
        const end = text.trimEnd().length;
        // As it is sent: half of a pair of surrogates is no character.
        const damaged = Buffer.from(text.slice(0, at % end) + put + text.slice((at % end) + 1)).toString();
        const value = parsed(damaged);
        const opened = open(damaged.padEnd(MAX_CALL_BYTES + 1, " "));
        // A string that lost its end makes one call of some, within which anything may stand.
        if (typeof opened !== "string" && opened.hasUnparsed) return;
        if (value === null) expect(opened).toMatch(/^(malformed_json|not_an_object)$/);
        else if (typeof opened === "string") throw new Error(`${opened}: ${damaged.slice(0, 200)}`);
        else expect(opened.calls).toEqual(values(value.batch));
      }),
      { numRuns: 300 },
    );
  });

  it.each(["[1,]", "[,]", "[,1]", "[1,,2]", "[1 2]"])(
    "BX3: is refused with a list %s, behind a run's end too",
    (list) => {
      for (const before of ["", `${JSON.stringify(FILLING)},${JSON.stringify(FILLING)},`]) {
        const inside = before + list.slice(1);
        expect(open(`{"batch":[${inside}}`.padEnd(MAX_CALL_BYTES + 1, " "))).toBe("malformed_json");
      }
      const ended = `{"batch":[${JSON.stringify(FILLING.repeat(2))},]}`.padEnd(MAX_CALL_BYTES + 1, " ");
      expect(open(ended)).toBe("malformed_json");
    },
  );

  it("BX3: is refused where it is cut off, however large it is, and where it is no text", () => {
    const whole = Buffer.from(`{"batch":[${`${JSON.stringify(FILLING)},`.repeat(30)}0]}`);
    expect(whole.length).toBeGreaterThan(MAX_ENVELOPE_BYTES);
    const codeOf = (bytes: Buffer) => {
      const opened = openBatch(bytes, bytes.length);
      return "refusal" in opened ? opened.refusal.code : null;
    };
    expect(codeOf(whole)).toBeNull();
    for (const left of [1, 3, 6_000]) expect(codeOf(whole.subarray(0, -left))).toBe("malformed_json");
    whole[50_000] = 0xff;
    expect(codeOf(whole)).toBe("invalid_utf8");
  });

  it("says where it is no JSON, in the whole of it", () => {
    const messageOf = (text: string) => {
      const opened = openBatch(Buffer.from(text.padEnd(MAX_CALL_BYTES + 1, " ")), MAX_CALL_BYTES + 1);
      if ("refusal" in opened) return opened.refusal.message;
      for (const run of opened.runsOf(values(opened.envelope["batch"])))
        if ("refusal" in run) return run.refusal.message;
      return null;
    };
    const start = `{"é":"🚀","batch":[${JSON.stringify(FILLING.repeat(2))},{"é":1},`;
    expect(messageOf(`${start}{"a":1 1}]}`)).toContain(`at position ${start.length + 7}`);
    expect(messageOf(`${start}0],1}`)).toContain(`at position ${start.length + 3}`);
  });

  it("CX2: is parsed in runs of some kilobytes, and a large call by itself", () => {
    const small = JSON.stringify({ note: "x".repeat(1_000) });
    const large = `{"note":[${"1,".repeat(MAX_CALL_BYTES / 2)}1]}`;
    const list = [...Array<string>(100).fill(small), large, ...Array<string>(100).fill(small)];
    const opened = open(`{"batch":[${list.join(",")}]}`);
    if (typeof opened === "string") throw new Error(opened);
    expect(opened.runs).toBe(13);
    expect(opened.calls).toEqual(list.map((each) => JSON.parse(each)));
    const { runs = [] } = cutBatch(Buffer.from(`{"batch":[${list.join(",")}]}`)) ?? {};
    expect(runs.filter(({ isLarge }) => isLarge)).toMatchObject([{ values: 1, unfitness: null }]);
  });

  it.each([
    ["blanks", " ".repeat(3), 0],
    ["escapes of a letter", "\\u0061", 1],
    ["escaped slashes", "\\/", 1],
    ["numbers", "1.0000000000,", 0],
  ])("CX3: does not take a call for too large that %s make large", (_what, unit, isText) => {
    const times = Math.ceil((4 * MAX_CALL_BYTES) / 3 / unit.length);
    const inside = isText === 1 ? `"${unit.repeat(times)}"` : `[${unit.repeat(times)}0]`;
    const runsOf = (value: string) => cutBatch(Buffer.from(`{"batch":[{"a":${value}}]}`))?.runs;
    expect(runsOf(inside)).toMatchObject([{ isLarge: true, unfitness: null }]);
    const both = `${inside}},{"a":"${"x".repeat(MAX_CALL_BYTES)}"`;
    expect(runsOf(both)).toMatchObject([{ unfitness: null }, { isLarge: true, unfitness: "call_too_large" }]);
  });

  it("CX4: does not parse a call that nests too deep, and parses those beside it", () => {
    const nesting = (levels: number) => `{"a":${"[".repeat(levels - 2)}{"b":"]}"}${"]".repeat(levels - 2)}}`;
    const inText = JSON.stringify({ a: "[{".repeat(MAX_NESTING), b: "x".repeat(MAX_CALL_BYTES / 2) });
    const [deepest, tooDeep] = [nesting(MAX_NESTING), nesting(MAX_NESTING + 1)];
    const list = [deepest, tooDeep, "1", tooDeep, tooDeep, deepest, inText, inText, tooDeep, inText];
    const opened = open(`{"batch":[${list.join(",")}]}`);
    if (typeof opened === "string") throw new Error(opened);
    const unparsed = `nested_too_deep: ${tooDeep}`;
    expect(opened.calls).toEqual(list.map((each) => (each === tooDeep ? unparsed : JSON.parse(each))));
    expect(opened.count).toBe(list.length);
    expect(open(`{"batch":[${inText},${inText},${tooDeep},]}`)).toBe("malformed_json");
  });

  it("BX4: has so many keys that need a stand-in in all of its calls", () => {
    const batchOf = (calls: number, keys: number) => {
      const call = JSON.stringify(
        Object.fromEntries(Array.from({ length: keys }, (_, n) => [`\\${n}${"x".repeat(50)}`, n])),
      );
      return open(`{"batch":[${Array(calls).fill(call).join(",")}]}`);
    };
    expect(MAX_BATCH_STAND_INS).toBe(4_000);
    expect(batchOf(10, 400)).toMatchObject({ count: 10 });
    expect(batchOf(11, 400)).toBe("request_too_large");
    // Within a run each is counted once.
    expect(batchOf(2_000, 1)).toMatchObject({ count: 2_000 });
  });

  it("BX1: has no more beside its calls than is parsed in one piece", () => {
    const withBeside = (bytes: number) => open(`{"batch":[1],"beside":"${"x".repeat(bytes)}"}`);
    expect(withBeside(MAX_ENVELOPE_BYTES - 100)).toMatchObject({ calls: [1] });
    expect(withBeside(MAX_ENVELOPE_BYTES)).toBe("request_too_large");
    // The envelope that a compressed body of a size may have.
    const compressed = (bytes: number) => openBatch(Buffer.from(`{"batch":[],"b":"${"x".repeat(bytes - 19)}"}`), 100);
    expect(compressed(mostBesideCalls(100))).toMatchObject({ envelope: { batch: [] } });
    expect(compressed(mostBesideCalls(100) + 1)).toMatchObject({ refusal: { code: "request_too_large" } });
  });
});
