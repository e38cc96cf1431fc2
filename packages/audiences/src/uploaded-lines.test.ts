import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Said } from "./audience-sync.ts";
import { inBatches, type ParseLine, parseMember, parseValue, readSaid } from "./uploaded-lines.ts";

afterEach(() => vi.useRealTimers());

/** The bytes of a text in pieces of these sizes, the last one repeated. */
async function* pieces(text: string | Buffer, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  let [from, index] = [0, 0];
  while (from < bytes.length) {
    const size = sizes[Math.min(index, sizes.length - 1)] ?? 1;
    yield bytes.subarray(from, from + size);
    from += size;
    index += 1;
  }
}

async function read(
  text: string | Buffer,
  parse: ParseLine = parseMember,
  sizes: readonly number[] = [7],
): Promise<Said[]> {
  const said: Said[] = [];
  for await (const batch of readSaid(pieces(text, sizes), parse)) said.push(...batch);
  return said;
}

describe("an upload", () => {
  it("says the same in whatever pieces it comes, and however its lines end, blank ones among them", async () => {
    const id = fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 });
    const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(id, { minLength: 1 }),
        sizes,
        fc.constantFrom("\n", "\r\n", "\n\n", "\r\n \t\r\n"),
        fc.constantFrom("", "\n", "\r\n", "\n\n"),
        fc.constantFrom("", "\ufeff"),
        async (ids, cut, between, end, mark) => {
          const text = mark + ids.map((userId) => JSON.stringify(userId)).join(between) + end;
          const wellFormed = ids.map((userId) => [userId.replace(/\p{Surrogate}/gu, "\ufffd"), "true"]);
          expect(await read(text, parseMember, cut)).toEqual(wellFormed);
        },
      ),
    );
  });

  it("takes a user as an id, as text, as a whole number and as an object", async () => {
    expect(await read('user-7 \r\nada@shop.example\n"a"\n\n17\n{"userId": "b", "name": "x"}\n')).toEqual([
      ["user-7", "true"],
      ["ada@shop.example", "true"],
      ["a", "true"],
      ["17", "true"],
      ["b", "true"],
    ]);
  });

  it("takes any JSON value of a computed trait", async () => {
    const text = '{"userId": "a", "value": {"b": [1]}}\n{"userId": 2, "value": null}';
    expect(await read(text, parseValue)).toEqual([
      ["a", '{"b":[1]}'],
      ["2", "null"],
    ]);
  });

  it.each([
    ["a row of CSV", "ada,1", parseMember, /^line 2: this is not JSON: write "user-7"/],
    ["an id with a space", "ada b", parseMember, /^line 2: this is not JSON/],
    ["a part of an array", "[", parseMember, /^line 2: this is not JSON/],
    ["a word of JSON", "null", parseMember, /^line 2: /],
    ["a value that is no JSON", "x", parseValue, /^line 2: this is not JSON/],
    ["an object without a user", "{}", parseMember, /^line 2: /],
    ["an empty user", '""', parseMember, /^line 2: a user id is needed$/],
    ["a value that is not there", '{"userId": "a"}', parseValue, /^line 2: expected an object such as/],
    ["a line without an end", `"${"x".repeat(140_000)}`, parseMember, /^line 2: a line has at most 131072 bytes/],
    ["a zero byte", '"a\u0000b"', parseMember, /^line 2: this is not JSON/],
    ["a zero byte in a plain id", "a\u0000b", parseMember, /^line 2: this is not JSON/],
    [
      "a value that nests too deep",
      `{"userId": "a", "value": ${"[".repeat(9000)}1${"]".repeat(9000)}}`,
      parseValue,
      /^line 2: expected a JSON value that nests no deeper$/,
    ],
  ] as const)("names the line of %s", async (_, line, parse, message) => {
    const good = parse === parseMember ? '"a"' : '{"userId": "a", "value": 1}';
    await expect(read(`${good}\n${line}`, parse, [5000])).rejects.toThrow(message);
  });

  it("takes the longest id with the longest value, of letters of three bytes each", async () => {
    const [userId, value] = ["語".repeat(8192), "語".repeat(16_000)];
    const line = JSON.stringify({ userId, value });
    expect(await read(`${line}\n${line}`, parseValue, [65_536])).toEqual([
      [userId, `"${value}"`],
      [userId, `"${value}"`],
    ]);
  });

  it.each([1, 3, 65_536])("names the first line that is not UTF-8, in pieces of %i bytes", async (size) => {
    const bytes = Buffer.from('"a"\n"m\u00fcller"\n"zo\u00eb"\n"\ufffd"', "latin1");
    await expect(read(bytes, parseMember, [size])).rejects.toThrow(/^line 2: is not UTF-8: /);
    await expect(read(Buffer.from('\ufeff"a"\n"b"', "utf16le"), parseMember, [size])).rejects.toThrow(/^line 1: /);
    for (const text of ['"a"\n\n"\xe4', '"a"\n\n"\xe4"\n"b"\n'])
      await expect(read(Buffer.from(text, "latin1"), parseMember, [size])).rejects.toThrow(/^line 3: is not UTF-8/);
  });

  it("may begin with a byte order mark, and name a user by the sign for what cannot be read", async () => {
    expect(await read('\ufeff"a"\n"\ufffd"\n')).toEqual([
      ["a", "true"],
      ["\ufffd", "true"],
    ]);
  });

  it("is refused when there is nothing in it", async () => {
    await expect(read("")).rejects.toThrow(/the upload is empty/);
    await expect(read("\n \r\n\n")).rejects.toThrow(/the upload is empty/);
  });

  it("is handed on in batches that are short, in users and in characters", () => {
    const users = Array.from({ length: 2500 }, (_, index): Said => [`${index}`, "true"]);
    expect([...inBatches(users)].map((batch) => batch.length)).toEqual([1000, 1000, 500]);
    const long = Array.from({ length: 100 }, (_, index): Said => [`${index}`, "x".repeat(16_384)]);
    expect([...inBatches(long)].map((batch) => batch.length)).toEqual([16, 16, 16, 16, 16, 16, 4]);
    expect([...inBatches(long)].flat()).toEqual(long);
  });

  it("is given up when nothing comes for half a minute", async () => {
    vi.useFakeTimers();
    const hanging = {
      async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
        yield Buffer.from('"a"\n');
        await new Promise(() => {});
      },
    };
    const reading = (async () => {
      for await (const batch of readSaid(hanging, parseMember)) expect(batch).toEqual([["a", "true"]]);
    })();
    const given = expect(reading).rejects.toThrow(/nothing came of the upload for 30 seconds/);
    await vi.advanceTimersByTimeAsync(30_000);
    await given;
  });

  /** So many users, one of `bytes` bytes every 25 s; `consumeMs` pass between two questions for one. */
  async function trickle(users: number, { bytes, consumeMs = 0 }: { bytes: number; consumeMs?: number }) {
    vi.useFakeTimers();
    const tick = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));
    const trickling = {
      async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
        for (let user = 0; user < users; user += 1) {
          if (consumeMs === 0) await tick(25_000);
          yield Buffer.from(`"${user}"${" ".repeat(bytes - `"${user}"`.length - 1)}\n`);
        }
      },
    };
    let taken = 0;
    const reading = (async () => {
      for await (const batch of readSaid(trickling, parseMember)) {
        taken += batch.length;
        if (consumeMs > 0) await tick(consumeMs);
      }
    })();
    const outcome = reading.then(
      () => "read",
      (error: Error) => error.message,
    );
    await vi.advanceTimersByTimeAsync(users * Math.max(25_000, consumeMs));
    return { taken, outcome: await outcome };
  }

  it("is given up when less than a kilobyte a second comes of it for five minutes", async () => {
    const { taken, outcome } = await trickle(100, { bytes: 25 * 1024 - 1 });
    expect(outcome).toMatch(/fewer than 1024 bytes a second for 5 minutes: nobody was changed/);
    expect(taken).toBe(11);
  });

  it("may take as long as it does when a kilobyte a second comes of it", async () => {
    expect(await trickle(100, { bytes: 25 * 1024 })).toEqual({ taken: 100, outcome: "read" });
  });

  it("is not held to the time in which nobody reads it", async () => {
    expect(await trickle(20, { bytes: 8, consumeMs: 60_000 })).toEqual({ taken: 20, outcome: "read" });
  });
});
