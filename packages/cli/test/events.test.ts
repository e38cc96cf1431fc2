import { describe, expect, it } from "vitest";
import { useCommand } from "./harness.ts";

const command = useCommand();
const { posthaste } = command;
const targets = (): readonly string[] => command.control.requests.map(({ target }) => target);

describe("events find", () => {
  const event = {
    ...{ messageId: "m1", sourceId: "src_1", type: "track", event: "Ordered", userKey: "ada", cause: "delivered" },
    ...{ receivedAt: "2026-11-22T10:00:00.000Z", sentence: "Delivered." },
  };

  it("lists a user's events with their causes, and each whole under --json", async () => {
    command.control.script("GET /v1/events", { data: [event], nextCursor: null, complete: true });
    expect(await posthaste(["events", "find", "--user-id", "ada", "--source-id", "src_1"])).toEqual({
      ...{ code: 0, stdout: "2026-11-22T10:00:00.000Z\tm1\ttrack\tOrdered\tada\tdelivered\n", stderr: "" },
    });
    expect(targets()).toEqual(["/v1/events?userId=ada&sourceId=src_1&limit=50"]);
    const whole = await posthaste(["events", "find", "--event", "Ordered", "--json"]);
    expect(JSON.parse(whole.stdout)).toEqual(event);
  });

  it("goes on over pages that end early, with as many as one may have", async () => {
    let asked = 0;
    command.control.scriptRequest("GET /v1/events", () => {
      asked += 1;
      const page = { data: asked === 1 ? [] : [event], nextCursor: asked === 1 ? "next" : null, complete: true };
      return { status: 200, body: JSON.stringify(page) };
    });
    expect((await posthaste(["events", "find", "--user-id", "ada", "--limit", "120"])).code).toBe(0);
    expect(targets()).toEqual(["/v1/events?userId=ada&limit=50", "/v1/events?userId=ada&limit=50&cursor=next"]);
  });

  it("ends with 3 where nothing matches, and with 2 where nothing is asked for", async () => {
    command.control.script("GET /v1/events", { data: [], nextCursor: null, complete: true });
    expect((await posthaste(["events", "find", "--event", "Never"])).code).toBe(3);
    const { code, stderr } = await posthaste(["events", "find", "--since", "10m"]);
    expect([code, stderr]).toEqual([2, "posthaste: give --user-id or --event\n"]);
  });
});

describe("events why", () => {
  it("tells the worst destination's sentence once, at the top, and each other one in its line", async () => {
    const event = { sourceId: "src_1", type: "track", event: null, userKey: "ada", cause: "dead_letter", timeline: [] };
    const destinations = [{ sentence: "Given up at A." }, { sentence: "Delivered to B." }];
    command.control.script("GET /v1/events/m1", {
      ...{ cause: "dead_letter", sentence: "Given up at A.", command: null, complete: true, cut: false },
      events: [{ ...event, destinations }],
    });
    const { code, stdout } = await posthaste(["events", "why", "m1"]);
    expect([code, stdout]).toEqual([3, "Given up at A.\n\nsrc_1  track  ada\n  Delivered to B.\n"]);
  });
});

describe("events scan", () => {
  const find = {
    ...{ time: "2026-11-22T10:00:00.000Z", what: "event", topic: "posthaste.events", partition: 3, offset: 12 },
    ...{ sourceId: "src_1", destinationId: null, detail: "tr\u001back" },
  };
  const progress = { topic: "posthaste.events", records: 100, of: 100, finds: 1 };
  const step = (name: string, data: unknown): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
  const script = (path: string, body: string) =>
    command.control.scriptRequest(`GET ${path}`, () => ({ status: 200, body }));

  it("prints what is found as it is found, and how much was read", async () => {
    script("/v1/events/m%201/scan", step("progress", progress) + step("find", find) + step("done", progress));
    expect(await posthaste(["events", "scan", "m 1"])).toEqual({
      code: 0,
      stdout: "2026-11-22T10:00:00.000Z\tevent\tposthaste.events\t3\t12\tsrc_1\t\ttr ack\n",
      stderr: "1 found in 100 records\n",
    });
    const { stdout } = await posthaste(["events", "scan", "m 1", "--json"]);
    expect(JSON.parse(stdout)).toEqual(find);
  });

  it("ends with 3 where nothing was found, 1 where it broke off, 5 while another runs", async () => {
    script("/v1/events/m1/scan", step("done", { ...progress, finds: 0 }));
    expect((await posthaste(["events", "scan", "m1"])).code).toBe(3);
    script("/v1/events/m1/scan", step("progress", progress) + step("find", find));
    const { code, stderr } = await posthaste(["events", "scan", "m1"]);
    expect([code, stderr]).toEqual([1, "posthaste: the scan broke off in the middle: what was found is not all\n"]);
    command.control.script("GET /v1/events/m1/scan", { status: 429, detail: "one at a time" }, 429);
    expect(await posthaste(["events", "scan", "m1"])).toMatchObject({ code: 5, stderr: "posthaste: one at a time\n" });
  });
});

describe("a message id that no path can hold", () => {
  it.each([".", ".."])("is asked for beside it: %s", async (messageId) => {
    const verdict = { cause: "delivered", sentence: "Delivered.", events: [], complete: true };
    command.control.script("GET /v1/events/-", verdict);
    expect((await posthaste(["events", "why", messageId, "--user-id", "ada"])).code).toBe(0);
    expect(targets()).toEqual([`/v1/events/-?userId=ada&messageId=${messageId}`]);
  });
});

describe("events why", () => {
  it("asks for the event of one source, at one place", async () => {
    command.control.script("GET /v1/events/m1", { cause: "delivered", sentence: "Delivered.", events: [] });
    expect((await posthaste(["events", "why", "m1", "--source-id", "src_1", "--origin", "1:77"])).code).toBe(0);
    expect(targets().at(-1)).toBe("/v1/events/m1?sourceId=src_1&origin=1%3A77");
  });

  it("lists the destinations of every page with the event that they are of", async () => {
    const of = (offset: number, ...ids: readonly string[]) => ({
      ...{ sourceId: "src_1", origin: { partition: 0, offset }, timeline: [] },
      destinations: ids.map((id) => ({ destinationId: id, sentence: `${id} lacks it.`, command: null })),
    });
    command.control.scriptRequest("GET /v1/events/m1", ({ target }) => {
      const isFirst = !target.includes("cursor");
      const events = isFirst ? [of(1, "dst_1"), of(2)] : [of(2, "dst_3"), of(1, "dst_2")];
      const page = { cause: "dead_letter", sentence: "Given up.", command: null, complete: true };
      return { status: 200, body: JSON.stringify({ ...page, events, nextCursor: isFirst ? "next" : null }) };
    });
    const { code, stdout } = await posthaste(["events", "why", "m1", "--json"]);
    const { events, nextCursor } = JSON.parse(stdout);
    const ids = events.map((each: ReturnType<typeof of>) => each.destinations.map((one) => one.destinationId));
    expect([code, nextCursor, ids]).toEqual([3, null, [["dst_1", "dst_2"], ["dst_3"]]]);
  });

  it("says that the timeline has the newest entries alone", async () => {
    const verdict = { cause: "delivered", sentence: "Delivered.", events: [], complete: true, cut: true };
    command.control.script("GET /v1/events/m1", verdict);
    expect((await posthaste(["events", "why", "m1"])).stderr).toContain("the timeline has the newest 500");
  });
});
