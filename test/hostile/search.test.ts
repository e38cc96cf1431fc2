import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { climb } from "./climb.ts";
import { type Cost, partOfBounds } from "./door.ts";
import { FAULTS } from "./put-back.ts";
import { bytesOf, type Stream, streams } from "./stream.ts";

const CHEAP: Cost = {
  memoryMb: 0,
  grownMb: 0,
  slower: 1,
  refused: 0,
  recoveryS: 0,
  processor: 0,
  pauseMs: 0,
  played: { bytes: 0, connections: 0 },
};

describe("the search for dear streams", () => {
  /** As if pieces were dear, and one-byte chunks on many connections beyond a bound. */
  const measure = async ({ framing, pieceBytes, connections, bodyBytes }: Stream): Promise<Cost> => {
    const pieces = framing === "chunked" ? bodyBytes / pieceBytes : 0;
    return { ...CHEAP, processor: Math.min(1, pieces / 1e6), memoryMb: Math.min(1_000, (pieces * connections) / 1e8) };
  };

  it("climbs to what is beyond a bound, in few tries, and tries the same from the same seed", async () => {
    const run = async (seed: number) => {
      const tried: Stream[] = [];
      let found = 0;
      await climb({
        ...{ seed, measure, goesOn: () => found === 0 && tried.length < 500 },
        onTried: ({ stream, cost }) => {
          tried.push(stream);
          if (partOfBounds(cost) > 1) found = tried.length;
        },
      });
      return { tried, found };
    };
    const runs = await Promise.all([1, 2, 3].map(run));
    for (const { found } of runs) expect(found).toBeGreaterThan(0);
    expect(await run(1)).toEqual(runs[0]);
    expect(runs[1]?.tried).not.toEqual(runs[0]?.tried);
  });

  it("finds what a long body, a pause, a slow writer or a missing end would hide, in some tens of tries", async () => {
    /** As if endless trailers were dear, where they come at all. */
    const trailers = async (stream: Stream): Promise<Cost> => {
      const { framing, trailerLines, ends, bodyBytes, pieceBytes, extensionBytes } = stream;
      const beforeBytes = stream.interim * 28 + bodyBytes * (1 + (5 + extensionBytes) / pieceBytes);
      const isPlayed = stream.pauseMs === 0 && stream.writeBytes > 1_500 && stream.leavesAfterMs >= 100;
      const isDear = framing === "chunked" && ends && trailerLines > 500 && isPlayed && beforeBytes < 1e6;
      return { ...CHEAP, processor: (stream.head % 10) / 100, slower: isDear ? 10 : 1 };
    };
    let tries = 0;
    const seeds = Array.from({ length: 20 }, (_, seed) => seed);
    for (const seed of seeds) {
      let isFound = false;
      await climb({
        ...{ seed, measure: trailers, goesOn: () => !isFound },
        onTried: ({ cost }) => {
          tries += 1;
          isFound = partOfBounds(cost) > 1;
        },
      });
    }
    expect(tries / seeds.length).toBeLessThan(60);
  });

  it("measures what is beyond a bound again, and takes the least", async () => {
    let times = 0;
    const slow = async (): Promise<Cost> => ({ ...CHEAP, slower: ++times === 1 ? 100 : 1 });
    const [found] = await climb({ seed: 1, measure: slow, goesOn: (tried) => tried < 1 });
    expect([times, found?.cost.slower]).toEqual([2, 1]);
  });
});

it.each(Object.entries(FAULTS))("the fault %s can be put back", (_, { changes }) => {
  for (const { file, from } of changes) {
    const source = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
    expect(source.split(from), file).toHaveLength(2);
  }
});

describe("a stream", () => {
  const heads = ["POST /a HTTP/1.1\r\nHost: x", "GET /b HTTP/1.1\r\nHost: x"];

  it("is written in pieces of the size that it says, and is the same however it is written", () => {
    const small = streams.map((stream) => ({
      ...stream,
      ...{ bodyBytes: Math.min(stream.bodyBytes, 4_096), messages: Math.min(stream.messages, 3), extensionBytes: 1 },
      ...{ interim: Math.min(stream.interim, 5), trailerLines: Math.min(stream.trailerLines, 5) },
      headerLines: Math.min(stream.headerLines, 5),
    }));
    fc.assert(
      fc.property(small, (stream) => {
        const pieces = [...bytesOf(stream, heads)];
        for (const piece of pieces.slice(0, -1)) expect(piece.length).toBe(stream.writeBytes);
        const whole = Buffer.concat([...bytesOf({ ...stream, writeBytes: 1_000_000 }, heads)]);
        expect(Buffer.concat(pieces).equals(whole)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it("has its head, chunks with extensions, trailers, and stops before its end where it is left", () => {
    const stream: Stream = {
      ...{
        head: 2,
        connections: 1,
        framing: "chunked",
        pieceBytes: 2,
        extensionBytes: 1,
        headerLines: 1,
        headerBytes: 1,
      },
      ...{ interim: 1, bodyBytes: 3, filler: "letters", trailerLines: 1, messages: 1, ends: true, reads: "at once" },
      ...{ writeBytes: 1_000, pauseMs: 0, leavesAfterMs: 1_000 },
    };
    const textOf = (of: Stream) => Buffer.concat([...bytesOf(of, heads)]).toString();
    const head = `${heads[0]}\r\nTransfer-Encoding: chunked\r\nx-0: h\r\n\r\n`;
    expect(textOf(stream)).toBe(`${head}2;e=x\r\nxx\r\n1;e=x\r\nx\r\n0\r\nt: x\r\n\r\n`);
    expect(textOf({ ...stream, ends: false })).toBe(`${head}2;e=x\r\nxx\r\n`);
  });

  it("has all of its small parts where they are made in blocks", () => {
    const stream: Stream = {
      ...{ head: 0, connections: 1, framing: "chunked", pieceBytes: 2, extensionBytes: 0, headerLines: 0 },
      ...{ headerBytes: 1, interim: 3_000, bodyBytes: 50_001, filler: "letters", trailerLines: 20_000, messages: 3 },
      ...{ ends: true, reads: "at once", writeBytes: 1_000, pauseMs: 0, leavesAfterMs: 1_000 },
    };
    const text = Buffer.concat([...bytesOf(stream, ["HTTP/1.1 200 OK"])]).toString();
    const body = `${"2\r\nxx\r\n".repeat(25_000)}1\r\nx\r\n0\r\n${"t: x\r\n".repeat(20_000)}\r\n`;
    const message = `${"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(3_000)}HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body}`;
    expect(text === message.repeat(3)).toBe(true);
  });
});
