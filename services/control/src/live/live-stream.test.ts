import { expect, it } from "vitest";
import { RecentEntries } from "../recent-entries.ts";
import { decodePosition } from "./live-position.ts";
import { liveEvents } from "./live-stream.ts";
import { createLiveTopic } from "./live-topic.ts";

it("LV1: the id goes on over records of which nothing is held", async () => {
  const recent = new RecentEntries<object>();
  recent.begin(0, 0);
  const freshness = () => ({ asOf: null, complete: true });
  const topic = createLiveTopic({ recent, freshness, shows: () => () => true, rowOf: (value) => value });
  const ended = new AbortController();
  const stream = liveEvents({
    ...{ feeds: [{ name: "calls", letter: "t", topic }], filter: {}, lastId: undefined, beatMs: 0 },
    ...{ signal: ended.signal, clock: { nowMs: Date.now, monotonicMs: () => performance.now() } },
  });
  const next = async () => {
    const { value } = await stream.next();
    const id = /^id: (.*)$/m.exec(String(Buffer.from(value ?? [])))?.[1] ?? "";
    return decodePosition(id)?.get("t")?.get(0);
  };
  expect(await next()).toEqual({ offset: 0, place: 0 });
  recent.add(0, 10, []);
  expect(await next()).toEqual({ offset: 10, place: 0 });
  ended.abort();
  await stream.return(undefined);
});
