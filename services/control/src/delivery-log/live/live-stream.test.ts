import { RecentEntries } from "@posthaste/kafka/log/recent-entries";
import { describe, expect, it } from "vitest";
import { decodePosition } from "./live-position.ts";
import { liveEvents } from "./live-stream.ts";
import { createLiveTopic } from "./live-topic.ts";

const BEGAN_MS = 1_000_000;
const HEARTBEAT_MS = 5000;
/** A heartbeat that never comes by itself. */
const NEVER_MS = 3_600_000;

interface Row {
  readonly n: number;
  readonly text?: string;
}

interface Reported {
  readonly event: string;
  readonly id: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the expected fields and fails on a missing one
  readonly data: any;
}

/** A topic with one partition that is read, and streams of it, whose clock goes on by hand. */
function startTopic({ maxBytes = 1_000_000 }: { readonly maxBytes?: number } = {}) {
  const recent = new RecentEntries<Row>({ maxEntries: 10_000, maxBytes });
  recent.begin(0, 0);
  const now = { monotonicMs: 0, asOfMs: null as number | null, complete: true };
  const topic = createLiveTopic<Row>({
    recent,
    freshness: () => ({ asOfMs: now.asOfMs, complete: now.complete }),
    shows:
      ({ event }) =>
      (row) =>
        event === undefined || row.n === Number(event),
    rowOf: (row) => row,
  });
  let offset = 0;
  /** Rows of one record. */
  const add = (...rows: readonly Row[]): void => {
    const entries = rows.map((value, place) => ({ offset, place, value, bytes: 10 }));
    offset += 1;
    recent.add(0, offset, entries);
  };
  return {
    recent,
    now,
    add,
    open({ lastId, heartbeatMs = NEVER_MS, only }: { lastId?: string; heartbeatMs?: number; only?: number } = {}) {
      const ended = new AbortController();
      const stream = liveEvents({
        ...{ feeds: [{ name: "deliveries", letter: "d", topic }], lastId, heartbeatMs },
        filter: only === undefined ? {} : { event: String(only) },
        ...{ signal: ended.signal, clock: { nowMs: () => BEGAN_MS, monotonicMs: () => now.monotonicMs } },
      });
      /** The next events that come together. */
      const next = async () => eventsOf(String(Buffer.from((await stream.next()).value ?? [])));
      return {
        next,
        /** The next events, where the clock goes on and a row comes during the wait. */
        async after(ms: number) {
          const coming = next();
          now.monotonicMs += ms;
          add({ n: 0 });
          return coming;
        },
        end: async () => {
          ended.abort();
          await stream.return(undefined);
        },
      };
    },
  };
}

function eventsOf(text: string): readonly Reported[] {
  return [...text.matchAll(/^event: (.*)\nid: (.*)\ndata: (.*)$/gm)].map(([, event = "", id = "", data = ""]) => ({
    ...{ event, id },
    data: JSON.parse(data),
  }));
}

const names = (reported: readonly Reported[]) => reported.map(({ event }) => event);
const numbers = (reported: readonly Reported[]) =>
  reported.filter(({ event }) => event === "deliveries").map(({ data }) => data.n);

describe("LV1: the id", () => {
  it("goes on over records of which nothing is held", async () => {
    const { recent, open } = startTopic();
    const stream = open({ heartbeatMs: 0 });
    const next = async () =>
      decodePosition((await stream.next())[0]?.id ?? "")
        ?.get("d")
        ?.get(0);
    expect(await next()).toEqual({ offset: 0, place: 0 });
    recent.add(0, 10, []);
    expect(await next()).toEqual({ offset: 10, place: 0 });
    await stream.end();
  });

  it("of any event is where the next stream goes on, also in the middle of a record", async () => {
    const { add, open } = startTopic();
    const first = open();
    const [heartbeat] = await first.next();
    add({ n: 1 }, { n: 2 });
    add({ n: 3 });
    const reported = await first.next();
    expect(numbers(reported)).toEqual([1, 2, 3]);
    for (const [seen, each] of [heartbeat, ...reported].entries()) {
      const second = open({ lastId: each?.id ?? "" });
      expect(names(await second.next())).toEqual(["beat"]);
      const rest = [1, 2, 3].slice(seen);
      if (rest.length > 0) expect(numbers(await second.next())).toEqual(rest);
      await second.end();
    }
    await first.end();
  });
});

describe("LV2: a reset comes first, and the stream goes on,", () => {
  it("where what was not sent is held no more", async () => {
    const { add, open } = startTopic({ maxBytes: 25 });
    const first = open();
    const [{ id = "" } = {}] = await first.next();
    for (let n = 1; n <= 4; n += 1) add({ n });
    const stream = open({ lastId: id });
    const reported = await stream.next();
    expect(names(reported)).toEqual(["reset", "beat"]);
    expect(reported[0]?.data.topics).toEqual(["deliveries"]);
    add({ n: 5 });
    expect(numbers(await stream.next())).toEqual([5]);
    // LV4: so for one that was there all the time and took nothing.
    expect(names(await first.next())).toEqual(["reset"]);
    add({ n: 6 });
    expect(numbers(await first.next())).toEqual([6]);
    await Promise.all([stream.end(), first.end()]);
  });

  it("where the topic was made anew, and what comes of it is sent from its beginning", async () => {
    const { add, recent, open } = startTopic();
    add({ n: 1 });
    add({ n: 2 });
    const stream = open();
    await stream.next();
    recent.clear();
    expect(names(await stream.next())).toEqual(["reset"]);
    recent.begin(0, 0);
    recent.add(0, 1, [{ offset: 0, place: 0, value: { n: 3 }, bytes: 10 }]);
    expect(numbers(await stream.next())).toEqual([3]);
    await stream.end();
  });

  it("where no stream ever sent such an id", async () => {
    const { add, open } = startTopic();
    const stream = open({ lastId: "once" });
    expect(names(await stream.next())).toEqual(["reset", "beat"]);
    add({ n: 1 });
    expect(numbers(await stream.next())).toEqual([1]);
    await stream.end();
  });

  it("once, where the id is beyond the end, or in no partition, of a topic read to its end", async () => {
    const { now, open } = startTopic();
    const stream = open({ lastId: "d=zz,zz", heartbeatMs: HEARTBEAT_MS });
    const heartbeat = async () => names(await stream.after(HEARTBEAT_MS)).filter((each) => each !== "deliveries");
    // Control has not read so far yet, or not since the stream began.
    now.asOfMs = BEGAN_MS;
    expect(names(await stream.next())).toEqual(["beat"]);
    expect(await heartbeat()).toEqual(["beat"]);
    now.asOfMs = BEGAN_MS + 1;
    now.complete = false;
    expect(await heartbeat()).toEqual(["beat"]);
    now.complete = true;
    expect(await heartbeat()).toEqual(["reset", "beat"]);
    expect(await heartbeat()).toEqual(["beat"]);
    await stream.end();
  });
});

describe("LV3: a beat", () => {
  it("comes first, and again when it is due, beside what came", async () => {
    const { add, open } = startTopic();
    add({ n: 1 });
    const stream = open({ heartbeatMs: HEARTBEAT_MS });
    expect(names(await stream.next())).toEqual(["beat"]);
    expect(names(await stream.after(HEARTBEAT_MS - 1))).toEqual(["deliveries"]);
    expect(names(await stream.after(1))).toEqual(["deliveries", "beat"]);
    expect(names(await stream.after(HEARTBEAT_MS - 1))).toEqual(["deliveries"]);
    await stream.end();
  });

  it("comes by itself where nothing else does", async () => {
    const { now, open } = startTopic();
    const stream = open({ heartbeatMs: 30 });
    await stream.next();
    const second = stream.next();
    now.monotonicMs += 30;
    expect(names(await second)).toEqual(["beat"]);
    await stream.end();
  });
});

describe("LV4: at a time", () => {
  it("five hundred entries are looked at, and the others without anything else that comes", async () => {
    const { add, open } = startTopic();
    const stream = open();
    await stream.next();
    add(...Array.from({ length: 1200 }, (_, n) => ({ n })));
    const reported = [numbers(await stream.next()), numbers(await stream.next()), numbers(await stream.next())];
    expect(reported.map((each) => each.length)).toEqual([500, 500, 200]);
    expect(reported.flat()).toEqual(Array.from({ length: 1200 }, (_, n) => n));
    await stream.end();
  });

  it("so where the filter shows none of the first", async () => {
    const { add, open } = startTopic();
    const stream = open({ only: 2500 });
    await stream.next();
    add(...Array.from({ length: 2501 }, (_, n) => ({ n })));
    expect(numbers(await stream.next())).toEqual([2500]);
    await stream.end();
  });

  it("as much text is made as fits, and one row more", async () => {
    const { add, open } = startTopic();
    const stream = open();
    await stream.next();
    add(...[1, 2, 3].map((n) => ({ n, text: "x".repeat(20_000) })));
    expect(numbers(await stream.next())).toEqual([1, 2]);
    expect(numbers(await stream.next())).toEqual([3]);
    await stream.end();
  });
});
