/** Topic `health` of the stream, over two control processes. Rules: LH1 to LH3 of health-changes.ts. */
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";
import { createHealthWriter, type HealthWriter, urlHealth } from "./health-writer.ts";
import { type LiveClient, openLive } from "./live-client.ts";

const URL_A = "https://a.example/hook";
const answer = { atMs: 1, outcome: "retryable", status: 503, error: null, durationMs: 3 } as const;
const OPEN = urlHealth(URL_A, { breaker: "open", openSinceMs: 1000, nextProbeMs: 2000, answer });

let topics: TestTopics;
let one: TestControl;
let two: TestControl;
let health: HealthWriter;
/** By name. */
const ids = new Map<string, string>();
/** How much the clocks of both are ahead. */
let aheadMs = 0;
const clients: LiveClient[] = [];

const clock = { nowMs: () => Date.now() + aheadMs, monotonicMs: () => performance.now() + aheadMs };

beforeAll(async () => {
  topics = await createTestTopics("control");
  [one, two] = await Promise.all([startTestControl(topics, { clock }), startTestControl(topics, { clock })]);
  health = await createHealthWriter(topics);
  const { body: source } = await one.call("POST", "/v1/sources", { name: "Shop", kind: "web" });
  const settings = { urls: [{ url: URL_A }] };
  for (const name of ["Changes", "Other", "Named", "Removed", "Stands still", "Silent"]) {
    const input = { type: "Webhooks", name, sourceIds: [source.id], settings };
    ids.set(name, (await one.call("POST", "/v1/destinations", input)).body.id);
  }
  for (const control of [one, two]) {
    const client = await open(control);
    // A look at all of them after they were made.
    const name = control === one ? "Other" : "Other one";
    await control.call("PATCH", `/v1/destinations/${idOf("Other")}`, { name: `${name} by now` });
    await eventually(() => expect(client.rows("health").map((row) => row.name)).toContain(`${name} by now`));
    client.cut();
  }
});

afterEach(() => {
  for (const client of clients.splice(0)) client.cut();
});

afterAll(async () => {
  await Promise.all([one.stop(), two.stop()]);
  await topics.remove();
});

async function open(control: TestControl, query = "topics=health", lastId?: string): Promise<LiveClient> {
  const client = await openLive(control.url, query, lastId === undefined ? {} : { lastId });
  clients.push(client);
  expect(client.status).toBe(200);
  await eventually(() => expect(client.events.length).toBeGreaterThan(0));
  return client;
}

const idOf = (name: string) => ids.get(name) ?? "";
const rowsOf = (client: LiveClient, id: string) =>
  client.rows("health").filter(({ destinationId }) => destinationId === id);
const statesOf = (client: LiveClient, id: string) => rowsOf(client, id).map(({ state }) => state);
const becomes = (client: LiveClient, id: string, state: string) =>
  eventually(() => expect(statesOf(client, id).at(-1)).toBe(state));

it("has each change of a destination's state as the list has it, and nothing of counts that rise", async () => {
  const id = idOf("Changes");
  const [first, second] = [await open(one), await open(two, `topics=health&destinationId=${id}`)];
  await health.say("one", id, { delivered: 1, deliveredAtMs: Date.now(), urls: [urlHealth(URL_A)] });
  await health.say("one", id, { delivered: 9, deliveredAtMs: Date.now(), urls: [OPEN] });
  await health.say("one", id, { delivered: 10, deliveredAtMs: Date.now(), urls: [OPEN] });
  await becomes(second, id, "open");
  const other = idOf("Other");
  await health.say("one", other, { urls: [OPEN] });
  await becomes(first, other, "open");
  expect([statesOf(first, id), statesOf(second, id), rowsOf(second, other)]).toEqual([["open"], ["open"], []]);
  const { asOf, complete, nextRetry, givesUp, waiting, deadLetters, deliveredSince, needsSomebody, ...listed } = (
    await one.call("GET", `/v1/health/destinations/${id}`)
  ).body;
  const [{ attempts, success, successOfHour, lastHour, ...row }] = rowsOf(first, id);
  expect(listed).toMatchObject(row);
  expect(Object.keys(listed).toSorted()).toEqual(Object.keys(rowsOf(first, id)[0]).toSorted());
  expect(row).toMatchObject({ state: "open", reason: { status: 503 }, nextProbe: "1970-01-01T00:00:02.000Z" });
  await health.say("one", id, { urls: [{ ...OPEN, nextProbeMs: 5000 }] });
  await eventually(() => expect(rowsOf(first, id).at(-1)?.nextProbe).toBe("1970-01-01T00:00:05.000Z"));
});

it("says that a destination was switched off and named anew, and nothing of one that was removed", async () => {
  const [id, removed] = [idOf("Named"), idOf("Removed")];
  const client = await open(two);
  await one.call("DELETE", `/v1/destinations/${removed}`);
  await one.call("PATCH", `/v1/destinations/${id}`, { enabled: false });
  await becomes(client, id, "off");
  await one.call("PATCH", `/v1/destinations/${id}`, { name: "Named anew" });
  await eventually(() => expect(rowsOf(client, id).at(-1)?.name).toBe("Named anew"));
  expect(rowsOf(client, removed)).toEqual([]);
});

it("LH2: goes on at the other process with what changed meanwhile, and with nothing older", async () => {
  const [id, still] = [idOf("Changes"), idOf("Stands still")];
  await health.say("one", id, { urls: [OPEN] });
  await health.say("one", still, { urls: [OPEN] });
  await eventually(async () => {
    const { body } = await two.call("GET", "/v1/health/destinations?state=open&name=stands");
    expect(body.data).toHaveLength(1);
  });
  const first = await open(one);
  aheadMs += 15_000;
  // The next beat says how far the stream is by then.
  await eventually(() => expect(first.rows("beat").length).toBeGreaterThan(1));
  first.cut();
  await health.say("one", id, { urls: [urlHealth(URL_A)] }, clock.nowMs());
  await eventually(async () => {
    for (const control of [one, two]) {
      const { body } = await control.call("GET", `/v1/health/destinations/${id}`);
      expect(body.state).toBe("healthy");
    }
  });
  const second = await open(two, "topics=health", first.lastId());
  await becomes(second, id, "healthy");
  expect(rowsOf(second, still)).toEqual([]);
  expect(second.rows("reset")).toEqual([]);
});

it("LH3: goes on at a process that was restarted, with each destination once", async () => {
  const id = idOf("Changes");
  // Destinations open by earlier reports would change by time alone, a minute after those reports.
  for (const name of ["Other", "Stands still"]) {
    await health.say("one", idOf(name), { urls: [urlHealth(URL_A)] }, clock.nowMs());
  }
  await health.say("one", id, { urls: [OPEN] }, clock.nowMs());
  const first = await open(one);
  first.cut();
  await one.stop();
  await health.say("one", id, { urls: [urlHealth(URL_A)] }, clock.nowMs());
  one = await startTestControl(topics, { clock });
  const second = await open(one, "topics=health", first.lastId());
  await eventually(() => expect(statesOf(second, id)).toEqual(["healthy"]));
  const { data } = (await one.call("GET", "/v1/health/destinations?limit=200")).body;
  const idsOf = (rows: readonly { destinationId: string }[]) => rows.map(({ destinationId }) => destinationId);
  expect(idsOf(second.rows("health")).toSorted()).toEqual(idsOf(data).toSorted());
  expect(second.rows("reset")).toEqual([]);
});

it("says what changed by time alone: a process that was killed counts no more", async () => {
  const id = idOf("Silent");
  const client = await open(one, `topics=health&destinationId=${id}`);
  await health.say("killed", id, { urls: [OPEN] }, clock.nowMs());
  await becomes(client, id, "open");
  aheadMs += 65_000;
  await becomes(client, id, "healthy");
});
