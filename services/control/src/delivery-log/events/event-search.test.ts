/** Rules: EL1 to EL3 of event-search.ts, over the tables of the read model. */
import { DatabaseSync } from "node:sqlite";
import { Projection } from "@posthaste/read-model/projection";
import { ReceivedEvents } from "@posthaste/read-model/received-events";
import { PROJECTIONS, type ReceivedProjection } from "@posthaste/read-model/store";
import { unroutedEntries } from "@posthaste/read-model/unrouted-entry";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type EventSearch, type FoundEvent, SEARCHED_PROJECTIONS, searchEvents } from "./event-search.ts";

/** One entry; the search asks for those of ada. */
interface Written {
  readonly projection: "unrouted" | "rejected_calls";
  readonly sourceId: string;
  readonly messageId: string;
  readonly userKey: string;
  readonly receivedAtMs: number;
}

const written = fc.record({
  projection: fc.constantFrom("unrouted", "rejected_calls"),
  sourceId: fc.constantFrom("src_1", "src_2"),
  messageId: fc.constantFrom("a", "b", "c", "d:e", "é", "\u{1f511}"),
  userKey: fc.constantFrom("ada", "ada", "bea"),
  receivedAtMs: fc.integer({ min: 1, max: 8 }),
}) as fc.Arbitrary<Written>;

function openTables() {
  const database = new DatabaseSync(":memory:");
  const tables = SEARCHED_PROJECTIONS.map((name) => {
    const options = { name, kinds: PROJECTIONS[name], nowMs: () => 1000, keepMs: 1000, maxEntries: 1000 };
    const projection = new Projection(database, options);
    return [name, projection, new ReceivedEvents(database, projection.messages, options)] as const;
  });
  const tableOf = (name: string) => {
    const found = tables.find(([each]) => each === name);
    if (found === undefined) throw new Error(`there is no ${name}`);
    return found;
  };
  let offset = 0;
  const write = ({ projection, sourceId, messageId, userKey, receivedAtMs }: Written): void => {
    offset += 1;
    const event = { messageId, userKey, receivedAtMs, cause: "no_destination", type: "track", event: "Paged" } as const;
    const others = { originPartition: 0, originOffset: 1, configOffset: 1, destinationIds: [], firstOffset: null };
    const events = [{ ...event, ...others, integration: null }];
    // An event's outcome may be known long after its receipt.
    const entries = unroutedEntries({ sourceId, unroutedAtMs: 900 - offset, events }, { partition: 0, offset });
    // A rejected call has its own time, and the same fields otherwise.
    const isRejected = projection === "rejected_calls";
    tableOf(projection)[1].add(entries.map((each) => (isRejected ? { ...each, timeMs: receivedAtMs } : each)));
  };
  const readModel = {
    received: async (name: ReceivedProjection, query: Parameters<ReceivedEvents["page"]>[0]) =>
      tableOf(name)[2].page(query),
    newestReceipts: async (name: ReceivedProjection, ...asked: Parameters<ReceivedEvents["newest"]>) =>
      tableOf(name)[2].newest(...asked),
  };
  return { write, readModel, close: () => database.close() };
}

const ASKED = { userId: "ada", isSuppressed: () => false };

async function walk(
  { readModel }: Pick<ReturnType<typeof openTables>, "readModel">,
  asked: EventSearch,
  between = () => {},
): Promise<readonly FoundEvent[]> {
  const found: FoundEvent[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await searchEvents(readModel, { ...asked, ...(cursor == null ? {} : { cursor }) });
    expect(page.events.length).toBeLessThanOrEqual(asked.limit);
    found.push(...page.events);
    cursor = page.nextCursor;
    between();
  } while (cursor !== null);
  return found;
}

/** Each event of ada once, at its last receipt. */
function listOf(all: readonly Written[]): readonly (readonly [string, string, number])[] {
  const newest = new Map<string, readonly [string, string, number]>();
  for (const { sourceId, messageId, receivedAtMs, userKey } of all) {
    const name = `${sourceId} ${messageId}`;
    if (userKey === "ada" && receivedAtMs > (newest.get(name)?.[2] ?? 0))
      newest.set(name, [sourceId, messageId, receivedAtMs]);
  }
  return [...newest.values()].sort(([, , one], [, , other]) => other - one);
}

it("EL1: lists each event once over all pages, the last received first, whatever became of it and when", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(written, { maxLength: 30 }), fc.integer({ min: 1, max: 5 }), async (all, limit) => {
      const tables = openTables();
      for (const each of all) tables.write(each);
      const found = await walk(tables, { ...ASKED, limit });
      const named = found.map(({ sourceId, messageId, receivedAtMs }) => [sourceId, messageId, receivedAtMs]);
      expect(named.map(([, , receivedAtMs]) => receivedAtMs)).toEqual(listOf(all).map(([, , each]) => each));
      expect(named.map(String).sort()).toEqual(listOf(all).map(String).sort());
      tables.close();
    }),
  );
});

it("EL3: an event that comes again between two pages is listed once, and none is passed over for that", async () => {
  const tables = openTables();
  const of = { projection: "unrouted", sourceId: "src_1", userKey: "ada" } as const;
  for (const [receivedAtMs, messageId] of ["a", "b", "c", "d"].entries())
    tables.write({ ...of, messageId, receivedAtMs: receivedAtMs + 1 });
  let at = 10;
  const found = await walk(tables, { ...ASKED, limit: 1 }, () => {
    at += 1;
    for (const messageId of ["a", "d"]) tables.write({ ...of, messageId, receivedAtMs: at });
  });
  expect(found.map(({ messageId }) => messageId)).toEqual(["d", "c", "b", "a"]);
  tables.close();
});
