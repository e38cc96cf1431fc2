/** Rules: FL1 and FL2 of live-stream.ts. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "@posthaste/testkit/eventually";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createContext } from "../src/context.ts";
import { followLive } from "../src/live-stream.ts";
import { serverSentEvents } from "../src/server-sent-events.ts";
import { runBinary, TOKEN } from "./fake-control.ts";
import { createTestTerminal } from "./test-terminal.ts";

let server: Server;
let url: string;
/** The requests, and the answer to each; the last answer goes on. */
let asked: IncomingMessage[];
let answers: ((response: ServerResponse) => void)[];

beforeEach(async () => {
  [asked, answers] = [[], []];
  server = createServer((request, response) => {
    asked.push(request);
    answers[Math.min(asked.length, answers.length) - 1]?.(response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const eventText = (event: string, id: string, data: object) =>
  `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
const attempt = (n: number) => ({ time: `t${n}`, messageId: `message-${n}`, urls: [] });

/** A stream of these attempts, which stays open unless `end` does something about that. */
function stream(ids: readonly number[], end: (response: ServerResponse) => void = () => {}) {
  return (response: ServerResponse): void => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const rows = ids.map((n) => eventText("deliveries", `d=${n}`, attempt(n)));
    response.write(eventText("beat", `d=${ids[0] ?? 0}`, {}) + rows.join(""), () => end(response));
  };
}

const destroy = (response: ServerResponse) => response.destroy();
const refuse = (status: number) => (response: ServerResponse) => response.writeHead(status).end("{}");

/** Runs the command until it has said this at the end of either output, and ends it by Ctrl-C. */
const runUntil = (words: readonly string[], end: { readonly stdout: RegExp } | { readonly stderr: RegExp }) =>
  runBinary([...words, "--url", url], {
    env: { POSTHASTE_ADMIN_TOKEN: TOKEN },
    during: async (pid, said) => {
      await eventually(() => {
        if ("stdout" in end) expect(said().stdout).toMatch(end.stdout);
        else expect(said().stderr).toMatch(end.stderr);
      });
      process.kill(pid, "SIGINT");
    },
  });
const follow = (args: readonly string[], end: Parameters<typeof runUntil>[1]) =>
  runUntil(["deliveries", "--follow", ...args], end);

const messagesIn = (stdout: string) =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).messageId);

describe("deliveries --follow", () => {
  it("FL1: goes on after a cut from the last id, and says when control was away and is back", async () => {
    answers = [stream([1, 2], destroy), refuse(503), stream([3, 4], (response) => response.end()), stream([5])];
    const { code, stdout, stderr } = await follow(["--json"], { stdout: /message-5.*\n$/ });
    expect(code).toBe(130);
    expect(messagesIn(stdout)).toEqual([1, 2, 3, 4, 5].map((n) => `message-${n}`));
    expect(asked.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "d=2", "d=2", "d=4"]);
    expect(stderr).toMatch(
      /^lost connection: .*\nagain since 20\d\d-\S+Z\nlost connection: control ended the stream\nagain since 20\S+Z\n$/,
    );
  });

  it("asks for the leaf's own filters, and prints a row as its list does", async () => {
    answers = [stream([1])];
    const { stdout } = await follow(["--outcome", "retryable", "--destination-id", "dst_1"], { stdout: /\n$/ });
    expect(asked[0]?.url).toBe("/v1/live?topics=deliveries&outcome=retryable&destinationId=dst_1");
    expect(stdout).toBe("t1\t\tmessage-1\t\t\t\t\n");
  });

  it("says what control does not hold any more", async () => {
    answers = [(response) => response.writeHead(200).write(eventText("reset", "d=9", { topics: ["deliveries"] }))];
    const { stderr } = await follow([], { stderr: /\n$/ });
    expect(stderr).toContain("some of it is not shown here");
  });

  it("FL2: ends with 5 when control is away for --give-up", async () => {
    answers = [stream([1], destroy), refuse(503)];
    const args = ["deliveries", "--follow", "--give-up", "1500ms", "--url", url];
    const { code, stdout, stderr } = await runBinary(args, { env: { POSTHASTE_ADMIN_TOKEN: TOKEN } });
    expect([code, stdout]).toEqual([5, "t1\t\tmessage-1\t\t\t\t\n"]);
    expect(stderr).toMatch(/^lost connection: .*\nposthaste: the API answers 503\n$/);
    expect(asked.length).toBeGreaterThan(1);
  });

  it.each([
    [401, 4],
    [403, 4],
    [400, 2],
  ])("FL2: ends at once when it is refused with %i", async (status, expected) => {
    answers = [stream([1], destroy), refuse(status)];
    const { code } = await runBinary(["deliveries", "--follow", "--url", url], {
      env: { POSTHASTE_ADMIN_TOKEN: TOKEN },
    });
    expect([code, asked.length]).toEqual([expected, 2]);
  });

  it("ends with 5 when control never answered", async () => {
    answers = [refuse(503)];
    const { code, stderr } = await runBinary(["deliveries", "--follow", "--url", url], {
      env: { POSTHASTE_ADMIN_TOKEN: TOKEN },
    });
    expect([code, stderr, asked.length]).toEqual([5, "posthaste: the API answers 503\n", 1]);
  });

  it.each([
    ["--since", "10m"],
    ["--until", "10m"],
    ["--limit", "10"],
  ])("does not go with %s, which is about what was", async (...option) => {
    const { code, stderr } = await runBinary(["deliveries", "--follow", ...option, "--url", url]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("cannot be used with option")]);
  });
});

it("FL1: a stream that says nothing is opened again", async () => {
  const heartbeats = (response: ServerResponse): void => {
    const timer = setInterval(() => response.write(eventText("beat", "d=3", {})), 20);
    response.once("close", () => clearInterval(timer));
  };
  // Also where this process stands still for so long itself.
  answers = [stream([1, 2]), stream([3], heartbeats), (response) => heartbeats(response.writeHead(200))];
  const { terminal, stderr } = createTestTerminal({ env: { POSTHASTE_ADMIN_TOKEN: TOKEN } });
  const context = await createContext({ url }, { terminal, version: "0", defaultDataDir: "/nonexistent" });
  const rows: unknown[] = [];
  const following = followLive(context, {
    ...{ topic: "deliveries", query: {}, giveUpMs: 60_000, silenceMs: 1000 },
    onRow: ({ messageId }) => rows.push(messageId),
  });
  following.catch(() => {});
  await eventually(() => expect(rows).toEqual(["message-1", "message-2", "message-3"]));
  expect(asked.slice(0, 2).map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "d=2"]);
  expect(stderr()).toMatch(/^lost connection: control said nothing for 1 s\nagain since/);
  // Ends it.
  answers = [refuse(401)];
  server.closeAllConnections();
  await expect(following).rejects.toThrow("does not take this token");
});

it("audit --follow prints the newest first, oldest first, and then each that comes, once", async () => {
  const entry = (id: number | null) => ({ id, time: `t${id}`, changes: [] });
  answers = [
    (response) => {
      response.writeHead(200);
      response.write(
        eventText("beat", "a=8", {}) + [8, 9].map((n) => eventText("audit", `a=${n + 1}`, entry(n))).join(""),
      );
    },
    // The newest is a change without an entry.
    (response) => {
      response.end(JSON.stringify({ data: [entry(null), entry(8), entry(7)], nextCursor: null, complete: true }));
    },
  ];
  const words = ["audit", "--follow", "--json", "--since", "1d"];
  const { stdout, code } = await runUntil(words, { stdout: /(.*\n){4}/ });
  const ids = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).id);
  expect([code, ids]).toEqual([130, [7, 8, null, 9]]);
  expect(asked.map((request) => request.url)).toEqual([
    "/v1/live?topics=audit",
    expect.stringMatching(/^\/v1\/audit\?since=20.*&limit=50$/),
  ]);
});

it("events come out of bytes however those are cut", async () => {
  const text =
    "retry: 1\n\nevent: a\nid: 1\ndata: ü1\ndata: 2\n\n: a comment\n\ndata: bare\n\nevent: b\ndata: not whole";
  const bytes = Buffer.from(text);
  for (const size of [1, 2, 7, bytes.length]) {
    async function* chunks() {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    }
    const events: object[] = [];
    for await (const event of serverSentEvents(chunks())) events.push(event);
    expect(events).toEqual([
      { event: "a", id: "1", data: "ü1\n2" },
      { event: "message", id: "1", data: "bare" },
    ]);
  }
});
