import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { run } from "../src/program.ts";
import type { Terminal } from "../src/terminal.ts";
import { type FakeControl, startFakeControl, TOKEN } from "./fake-control.ts";
import { createTestTerminal } from "./test-terminal.ts";

let control: FakeControl;

beforeAll(async () => {
  control = await startFakeControl();
});

afterAll(() => control.close());

beforeEach(() => control.reset());

/** The pages shown in a browser. */
const opened: string[] = [];

/** Runs a command line on a terminal, of 60 columns unless told otherwise, where somebody types `answer`. */
async function onTerminal(args: readonly string[], { answer = "", env = {}, url = control.url, columns = 60 } = {}) {
  const reported = createTestTerminal({ env: { POSTHASTE_ADMIN_TOKEN: TOKEN, ...env } });
  const terminal: Terminal = {
    ...reported.terminal,
    isTerminal: true,
    isTalkTerminal: true,
    columns,
    canAsk: true,
    openUrl: (url) => {
      opened.push(url);
      return Promise.resolve();
    },
    ask: async (question) => {
      reported.terminal.err(question);
      return answer;
    },
  };
  const options = { terminal, version: "0", defaultDataDir: "/nonexistent" };
  const code = await run([...args, "--url", url], options);
  return { code, stdout: reported.stdout(), stderr: reported.stderr() };
}

const sources = [
  {
    id: "src_1",
    name: "A name that is much too long for a narrow terminal",
    kind: "web",
    enabled: true,
    writeKey: "wk",
  },
  { id: "src_2", name: "App", kind: "mobile", enabled: false, writeKey: "wk2" },
];

describe("on a terminal", () => {
  it.each(["ndjson", "csv"])(
    "an export as %s has nothing that the terminal would obey, and its lines",
    async (format) => {
      control.script("GET /v1/dead-letters/counts", { data: [], nextCursor: null, complete: true });
      const row = '{"event":"\u001b]0;gone\u0007 \u202ex"}\n';
      control.scriptRequest("GET /v1/dead-letters/export", () => ({ status: 200, body: `${row}${row}` }));
      const { code, stdout } = await onTerminal(["dead-letters", "export", "--format", format]);
      expect([code, stdout]).toEqual([0, `{"event":" ]0;gone   x"}\n`.repeat(2)]);
    },
  );

  it("a list is a table with a header, fitted to the width", async () => {
    control.script("GET /v1/sources", { data: sources, nextCursor: null });
    const { stdout } = await onTerminal(["sources", "list", "--no-color"]);
    expect(stdout).toBe(
      [
        "id     name             kind    enabled  writeKey  createdAt",
        "src_1  A name that is   web     true     wk",
        "       much too long",
        "       for a narrow",
        "       terminal",
        "src_2  App              mobile  false    wk2",
        "",
      ].join("\n"),
    );
  });

  it("a list of deliveries has its times, ids and answers whole, however wide they are", async () => {
    const url = "https://billing.example/a/path/that/is/rather/long/and/then/some/more";
    const delivery = {
      ...{ time: "2026-11-22T10:41:30.117Z", destinationId: "dst_4k2v8m1n0p3q5r7s", attempt: 1, outcome: "permanent" },
      ...{ messageId: "5f0c1f6e-9f57-4a55-8f0a-6b8f3c9d2e11", type: "track" },
      urls: [{ url, status: 503, error: null, durationMs: 12.3 }],
    };
    control.script("GET /v1/deliveries", { data: [delivery], nextCursor: null, complete: true });
    const { stdout } = await onTerminal(["deliveries", "--no-color"], { columns: 140 });
    const [, ...lines] = stdout.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^2m ago {2}dst_4k2v8m1n0p3q5r7s {2}5f0c1f6e-9f57-4a55-8f0a-6b8f3c9d2e11 {2}track {2}1 /);
    expect(stdout).not.toContain("…");
    expect(lines.join("").replaceAll(" ", "")).toContain(url);
  });

  it("an id has its name beside it, where control tells it", async () => {
    const count = { destinationId: "dst_1", reason: "window_expired", count: 12 };
    const counts = { data: [count, { ...count, destinationId: "dst_gone" }], nextCursor: null, complete: true };
    control.script("GET /v1/dead-letters/counts", counts);
    control.script("GET /v1/destinations", { data: [{ id: "dst_1", name: "Billing" }], nextCursor: null });
    expect((await onTerminal(["dead-letters", "count", "--no-color"])).stdout.split("\n").slice(1, 3)).toEqual([
      "Billing dst_1  window_expired  12",
      "dst_gone       window_expired  12",
    ]);
    control.script("GET /v1/destinations", { detail: "try again" }, 503);
    expect((await onTerminal(["dead-letters", "count", "--no-color"])).stdout).toContain("\ndst_1 ");
  });

  it("a list of sources has four characters of a server's write key, and all of it where that is asked for", async () => {
    const server = { ...sources[1], kind: "server", writeKey: "abcdefgh" };
    control.script("GET /v1/sources", { data: [server], nextCursor: null });
    const masked = await onTerminal(["sources", "list"]);
    expect([masked.stdout.includes("abcd…"), masked.stdout.includes("abcde")]).toEqual([true, false]);
    expect((await onTerminal(["sources", "list", "--show-keys"])).stdout).toContain("abcdefgh");
  });

  it("a state has its colour, unless colours are off", async () => {
    const health = { destinationId: "dst_1", name: "Billing", state: "open", reason: null, waiting: null };
    control.script("GET /v1/health/destinations", { data: [health], nextCursor: null, complete: true });
    expect((await onTerminal(["destinations", "health"])).stdout).toContain("\u001b[31mopen\u001b[39m");
    expect((await onTerminal(["destinations", "health", "--no-color"])).stdout).not.toContain("\u001b");
  });

  it("the header is bold unless --no-color or NO_COLOR says otherwise", async () => {
    control.script("GET /v1/sources", { data: sources, nextCursor: null });
    expect((await onTerminal(["sources", "list"])).stdout).toContain("\u001b[1m");
    expect((await onTerminal(["sources", "list", "--no-color"])).stdout).not.toContain("\u001b");
    expect((await onTerminal(["sources", "list"], { env: { NO_COLOR: "1" } })).stdout).not.toContain("\u001b");
  });

  it("--json stays JSON", async () => {
    control.script("GET /v1/sources", { data: sources, nextCursor: null });
    const { stdout } = await onTerminal(["sources", "list", "--json"]);
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual(sources);
  });

  it("what --jq prints has nothing that the terminal would obey", async () => {
    control.script("GET /v1/sources/src_1", { name: "\u001b]0;gone\u0007 x" });
    expect((await onTerminal(["sources", "get", "src_1", "--jq", ".name"])).stdout).toBe(" ]0;gone  x\n");
  });

  it("one document is a page of its fields", async () => {
    control.script("GET /v1/destinations/dst_1", { id: "dst_1", settings: { urls: [{ url: "https://a.example/" }] } });
    const { stdout } = await onTerminal(["destinations", "get", "dst_1", "--no-color"]);
    expect(stdout).toBe("id  dst_1\nsettings\n  urls\n    url  https://a.example/\n");
  });

  it("removing goes on after a yes, and does nothing after anything else", async () => {
    control.script("DELETE /v1/sources/src_1", undefined, 204);
    control.script("DELETE /v1/sources/src_2", undefined, 204);
    for (const answer of ["", "n", "nope", "yess"]) {
      const refused = await onTerminal(["sources", "remove", "src_1", "src_2"], { answer });
      expect([refused.code, refused.stderr]).toEqual([
        3,
        "Remove 2 sources? It cannot be undone. [y/N] posthaste: nothing was done\n",
      ]);
    }
    expect(control.requests).toHaveLength(0);
    expect((await onTerminal(["sources", "remove", "src_1", "src_2"], { answer: " Yes " })).code).toBe(0);
    expect(control.requests.map(({ method }) => method)).toEqual(["DELETE", "DELETE"]);
  });

  it("open shows the link in a browser too", async () => {
    control.script("POST /v1/session/link", { link: "http://127.0.0.1:8090/#sign-in=abc", expiresAt: "then" }, 201);
    const { code, stdout } = await onTerminal(["open"]);
    expect([code, stdout, opened]).toEqual([0, "http://127.0.0.1:8090/#sign-in=abc\n", [stdout.trim()]]);
  });

  it("more than ten thousand dead letters are sent again when the destination's name was typed", async () => {
    const counts = [{ destinationId: "dst_1", count: 10_001 }];
    const planned = { id: null, plan: "rpl_1", matched: 10_001, counts };
    control.script("POST /v1/replays", planned, 202);
    control.script("GET /v1/destinations/dst_1", { id: "dst_1", name: "Acme CRM" });
    const replay = ["dead-letters", "replay", "--destination-id", "dst_1"];
    const no = await onTerminal(replay, { answer: "yes" });
    expect([no.code, no.stderr]).toEqual([
      3,
      expect.stringContaining("Type the destination's name, Acme CRM, to go on"),
    ]);
    expect(control.requests.map(({ method }) => method)).toEqual(["POST", "GET"]);
    const several = { ...planned, counts: [...counts, { destinationId: "dst_2", count: 1 }] };
    control.script("POST /v1/dead-letters/purge", several, 202);
    const purge = ["dead-letters", "purge", "--until", "1d"];
    expect((await onTerminal(purge, { answer: "y" })).stderr).toContain("Type their number, 10001, to go on");
    expect((await onTerminal(purge, { answer: "10001" })).code).toBe(0);
  });

  it.each([
    ["counting: 340,000 of 1,000,000, 0 a second", { looked: 340_000, of: 1_000_000 }, {}],
    ["control makes another count first: one at a time\n", { looked: 0, of: null }, { reason: "window_expired" }],
  ])("a count of dead letters that takes long says how far it is: %s", async (reported, own, ahead) => {
    const asked = { purpose: "replay", again: false, filter: { since: "2026-11-22T10:00:00.000Z", type: "track" } };
    const counting = [
      { ...asked, filter: ahead },
      { ...asked, ...own, before: "reason" in ahead ? 1 : 0 },
    ].slice("reason" in ahead ? 0 : 1);
    const others = [
      { ...asked, again: true },
      { ...asked, purpose: "purge" },
      { ...asked, filter: {} },
    ];
    let [looks, counted]: [number, ServerResponse | null] = [0, null];
    const server = createServer((request, response) => {
      if (request.method === "POST") counted = response;
      else {
        looks += 1;
        response.end(JSON.stringify({ data: [...counting, ...others.map((each) => ({ ...each, looked: 1, of: 2 }))] }));
      }
      // The first look was told by then.
      if (looks > 1) counted?.writeHead(202).end(JSON.stringify({ id: null, plan: null, matched: 0 }));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const replay = ["dead-letters", "replay", "--since", "2026-11-22T11:00:00+01:00", "--type", "track"];
    const { code, stderr } = await onTerminal(replay, { url });
    server.close();
    expect([code, stderr]).toEqual([3, expect.stringContaining(reported)]);
    expect(stderr).toMatch(/nothing matches\n$/);
  });
});
