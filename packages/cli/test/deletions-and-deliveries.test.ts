import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { useCommand } from "./harness.ts";

const command = useCommand();
const { posthaste, lastBody } = command;

describe("deletions", () => {
  it("say how many are notified, and end with 3 when nobody is", async () => {
    command.control.script("POST /v1/deletions", { id: "del_1", notifications: 2 }, 202);
    const some = await posthaste([
      "deletions",
      "create",
      "--user-id",
      "user-7",
      "--source-ids",
      "src_1,src_2",
      "--yes",
    ]);
    expect([some.code, some.stdout]).toEqual([0, "id\tdel_1\nnotifications\t2\n"]);
    expect(lastBody()).toEqual({ userId: "user-7", sourceIds: ["src_1", "src_2"] });
    command.control.script("POST /v1/deletions", { id: "del_2", notifications: 0 }, 202);
    expect((await posthaste(["deletions", "create", "--user-id", "user-7", "--yes"])).code).toBe(3);
  });

  it("of many users are a request for each five thousand, each once, with progress and an id for each", async () => {
    const users = Array.from({ length: 7000 }, (_, index) => `user-${index}`);
    const stdin = `${[...users, "user-0", ""].join("\r\n")}\n`;
    command.control.script("POST /v1/deletions", { id: "del_1", notifications: 2, suppressed: 9 }, 202);
    const create = ["deletions", "create", "--file", "-", "--id", "ticket-4711", "--suppress", "--yes"];
    const { code, stdout, stderr } = await posthaste(create, { stdin });
    expect([code, stdout]).toEqual([0, "del_1\t2\ndel_1\t2\n"]);
    expect(stderr).toBe("5000 of 7000 users\n7000 of 7000 users\n");
    expect(lastBody()).toEqual({ userIds: users.slice(5000), suppress: true, id: "ticket-4711-2" });
  });

  it("take the lines of a file as ids and as JSON", async () => {
    command.control.script("POST /v1/deletions", { id: "del_1", notifications: 1 }, 202);
    const stdin = 'user 1\n"user 2"\n{"userId": "user-3"}\n{"userId": 4}\n';
    expect((await posthaste(["deletions", "create", "--file", "-", "--yes"], { stdin })).code).toBe(0);
    expect(lastBody()).toEqual({ userIds: ["user 1", "user 2", "user-3", "4"] });
  });

  it.each([
    [["--user-id", "u", "--file", "-"], "give either --user-id or --file"],
    [[], "give either --user-id or --file"],
    [["--file", "missing.txt"], "--file: missing.txt cannot be read"],
    [["--file", "-"], "--file: - has no user id"],
    [["--file", "bad.ndjson"], '--file: line 2: expected a user id, or {"userId": "user-7"}'],
  ])("are refused with %j", async (args, message) => {
    await writeFile(join(command.dir, "bad.ndjson"), 'user-7\n{"user": "user-8"}\n');
    const { code, stderr } = await posthaste(["deletions", "create", ...args]);
    expect([code, stderr]).toEqual([2, `posthaste: ${message}\n`]);
  });

  it("are listed, and one is shown with its notifications", async () => {
    const deletion = { id: "del_1", state: "sent", users: 2, notifications: 4, suppress: false };
    command.control.script("GET /v1/deletions", { data: [deletion], nextCursor: null });
    expect((await posthaste(["deletions", "list"])).stdout).toBe("del_1\tsent\t2\t4\tfalse\t\t\n");
    command.control.script("GET /v1/deletions/del_1", { ...deletion, states: { sent: 1, dead: 3 } });
    expect((await posthaste(["deletions", "get", "del_1"])).stdout).toContain("states.dead\t3\n");
    const reported = { userId: "u", destinationId: "dst_1", state: "delivered", attempts: 1, lastAttemptAt: "now" };
    command.control.script("GET /v1/deletions/del_1/notifications", {
      data: [reported],
      nextCursor: null,
      complete: true,
    });
    const notifications = await posthaste(["deletions", "get", "del_1", "--notifications"]);
    expect(notifications.stdout).toBe("u\tdst_1\tdelivered\t1\tnow\n");
  });
});

describe("suppressions", () => {
  it("of a user are shown and ended; with 3 where there are none", async () => {
    command.control.script("GET /v1/suppressions", { userId: "u &7", sourceIds: ["src_1"] });
    const found = await posthaste(["suppressions", "get", "--user-id", "u &7"]);
    expect([found.code, found.stdout]).toEqual([0, "userId\tu &7\nsourceIds\tsrc_1\n"]);
    expect(command.control.requests.at(-1)?.target).toBe("/v1/suppressions?userId=u+%267");
    command.control.script("DELETE /v1/suppressions", { userId: "u", ended: [] });
    const ended = await posthaste(["suppressions", "remove", "--user-id", "u", "--source-id", "src_1"]);
    expect([ended.code, ended.stderr]).toEqual([3, "nothing of this user was suppressed\n"]);
    expect(command.control.requests.at(-1)?.target).toBe("/v1/suppressions?userId=u&sourceId=src_1");
  });
});

describe("deliveries", () => {
  const attempt = {
    time: "2026-11-21T10:00:00.000Z",
    destinationId: "dst_1",
    sourceId: "src_1",
    messageId: "m1",
    type: "track",
    attempt: 2,
    outcome: "retryable",
    urls: [
      { url: "https://a.example/", status: 503, error: null, durationMs: 12.3, answer: "busy" },
      { url: "https://b.example/", status: null, error: "timeout", durationMs: 5000, answer: null },
    ],
  };
  const queries = (): Record<string, string>[] =>
    command.control.requests.map(({ target }) => Object.fromEntries(new URLSearchParams(target.split("?")[1])));

  it("are shown newest first with what each URL answered, and whole under --json", async () => {
    command.control.script("GET /v1/deliveries", { data: [attempt], nextCursor: null, complete: true });
    expect(await posthaste(["deliveries"])).toEqual({
      code: 0,
      stdout:
        "2026-11-21T10:00:00.000Z\tdst_1\tm1\ttrack\t2\tretryable\t" +
        "503 in 12.3 ms at https://a.example/; timeout in 5000 ms at https://b.example/\n",
      stderr: "",
    });
    expect(JSON.parse((await posthaste(["deliveries", "--json"])).stdout)).toEqual(attempt);
  });

  it("are asked for by the API's names, times as moments", async () => {
    command.control.script("GET /v1/deliveries", { data: [attempt], nextCursor: null, complete: true });
    const before = Date.now();
    await posthaste([
      "deliveries",
      ...["--destination-id", "dst_1", "--outcome", "retryable", "--message-id", "m1"],
      ...["--since", "10m", "--until", "2026-11-21T12:00:00+02:00", "--limit", "7"],
    ]);
    const [{ since = "", ...query } = {}] = queries();
    expect(query).toEqual({
      destinationId: "dst_1",
      outcome: "retryable",
      messageId: "m1",
      until: "2026-11-21T10:00:00.000Z",
      limit: "7",
    });
    expect(Date.parse(since)).toBeGreaterThanOrEqual(before - 600_000);
    expect(Date.parse(since)).toBeLessThanOrEqual(Date.now() - 600_000);
  });

  it("are listed each once by --latest, or by --state, with what every attempt of it was answered", async () => {
    const answers = [
      { attempt: 3, time: "2026-11-21T09:00:00.000Z", urls: ["503", "500"] },
      { attempt: 4, time: "2026-11-21T10:00:00.000Z", urls: ["timeout"] },
    ];
    const delivery = {
      ...{ time: "2026-11-21T10:00:00.000Z", destinationId: "dst_1", messageId: "m1", type: "track" },
      ...{ state: "waiting_retry", attempts: 4, answers, earlier: 2, due: "2026-11-21T11:00:00.000Z" },
    };
    command.control.script("GET /v1/deliveries/latest", { data: [delivery], nextCursor: null, complete: true });
    const row = "m1\ttrack\twaiting_retry\t4\t(2 earlier),503+500,timeout\t2026-11-21T11:00:00.000Z\n";
    for (const chosen of [["--latest"], ["--state", "waiting_retry"]]) {
      const { code, stdout } = await posthaste(["deliveries", ...chosen]);
      expect([code, stdout]).toEqual([0, `2026-11-21T10:00:00.000Z\tdst_1\t${row}`]);
    }
    expect(queries()).toEqual([{ limit: "50" }, { limit: "50", state: "waiting_retry" }]);
    expect(JSON.parse((await posthaste(["deliveries", "--latest", "--json"])).stdout)).toEqual(delivery);
  });

  it("go on over pages as far as --limit, keeping what was asked for", async () => {
    command.control.script("GET /v1/deliveries", { data: [attempt, attempt], nextCursor: "next", complete: true });
    const { stdout } = await posthaste(["deliveries", "--limit", "4", "--outcome", "retryable"]);
    expect(stdout.trimEnd().split("\n")).toHaveLength(4);
    expect(queries()).toEqual([
      { outcome: "retryable", limit: "4" },
      { outcome: "retryable", limit: "2", cursor: "next" },
    ]);
  });

  it("are sent again one by one, with a word on how to look at it and on a copy that waits", async () => {
    const resent = { replayId: "rsd_1", copyWaits: true };
    command.control.script("POST /v1/deliveries/resend", resent, 202);
    const { code, stdout, stderr } = await posthaste(["deliveries", "resend", "m1", "dst_1", "--source-id", "src_1"]);
    expect([code, stderr]).toEqual([
      0,
      "a copy that waits for a retry stays, and is sent when it is due\n" +
        "  posthaste deliveries --replay-id rsd_1    shows what comes of it\n",
    ]);
    expect(stdout).toContain("rsd_1");
    expect(JSON.parse(String(command.control.requests.at(-1)?.body))).toEqual({
      messageId: "m1",
      destinationId: "dst_1",
      sourceId: "src_1",
    });
    expect(JSON.parse((await posthaste(["deliveries", "resend", "m1", "dst_1", "--json"])).stdout)).toEqual(resent);
    await posthaste(["deliveries", "resend", "m1", "--destination-id", "dst_2"]);
    expect(command.lastBody()).toEqual({ messageId: "m1", destinationId: "dst_2" });
    for (const words of [["m1"], ["m1", "dst_1", "--destination-id", "dst_2"]]) {
      expect((await posthaste(["deliveries", "resend", ...words])).code).toBe(2);
    }
  });

  it.each([
    [409, 3],
    [404, 3],
    [403, 4],
  ])("are not sent again when control answers %i, which ends with %i", async (status, exit) => {
    command.control.script("POST /v1/deliveries/resend", { status, title: "no", detail: "why not" }, status);
    const { code, stderr } = await posthaste(["deliveries", "resend", "m1", "dst_1"]);
    expect([code, stderr]).toEqual([exit, expect.stringContaining("why not")]);
  });

  it("say that entries may be missing while control reads, and end with 3 when nothing matches", async () => {
    command.control.script("GET /v1/deliveries", { data: [], nextCursor: null, complete: false });
    expect(await posthaste(["deliveries"])).toEqual({
      code: 3,
      stdout: "",
      stderr: "control is still reading the log: entries may be missing\nnothing matches\n",
    });
  });

  it.each(["soon", "2026", "10"])("refuse %s as a time", async (time) => {
    const { code, stderr } = await posthaste(["deliveries", "--since", time]);
    expect([code, command.control.requests.length]).toEqual([2, 0]);
    expect(stderr).toContain("Expected how long ago, such as 10m, or a moment");
  });
});

describe("dead letters", () => {
  const deadLetter = {
    time: "2026-11-21T10:00:00.000Z",
    place: "3:1042",
    reason: "window_expired",
    destinationId: "dst_1",
    messageId: "m1",
    type: "track",
    attempts: 10,
    deferrals: 2,
    state: "deliveredSince",
  };

  it("are listed newest first, and the open ones alone", async () => {
    command.control.script("GET /v1/dead-letters", { data: [deadLetter], nextCursor: null, complete: true });
    const { code, stdout } = await posthaste(["dead-letters", "list", "--reason", "window_expired", "--limit", "5"]);
    expect([code, stdout]).toEqual([
      0,
      "2026-11-21T10:00:00.000Z\t3:1042\tdst_1\tm1\ttrack\twindow_expired\t10\tdeliveredSince\n",
    ]);
    expect(command.control.requests[0]?.target).toBe("/v1/dead-letters?reason=window_expired&limit=5");
    await posthaste(["dead-letters", "list", "--open"]);
    expect(command.control.requests.at(-1)?.target).toBe("/v1/dead-letters?open=true&limit=50");
  });

  it("are counted by destination and reason, over all pages", async () => {
    const counts = [
      { destinationId: "dst_1", reason: "window_expired", count: 7 },
      { destinationId: "dst_2", reason: "suppressed", count: 1 },
    ];
    command.control.scriptRequest("GET /v1/dead-letters/counts", ({ target }) => {
      const isLast = target.includes("cursor=next");
      const page = { data: counts.slice(isLast ? 1 : 0, isLast ? 2 : 1), nextCursor: isLast ? null : "next" };
      return { body: JSON.stringify({ ...page, complete: true }) };
    });
    const { code, stdout } = await posthaste(["dead-letters", "count", "--until", "2026-11-21"]);
    expect([code, stdout]).toEqual([0, "dst_1\twindow_expired\t7\ndst_2\tsuppressed\t1\n"]);
    expect(command.control.requests[1]?.target).toContain("until=2026-11-21T00%3A00%3A00.000Z");
  });

  it("end with 3 when there are none", async () => {
    command.control.script("GET /v1/dead-letters/counts", { data: [], nextCursor: null, complete: true });
    expect(await posthaste(["dead-letters", "count", "--quiet"])).toEqual({ code: 3, stdout: "", stderr: "" });
  });
});

describe("events why", () => {
  const verdict = {
    messageId: "m 1",
    cause: "waiting_retry",
    sentence: "Not delivered to \u001b[31mAcme yet.",
    command: "posthaste deliveries --message-id 'm 1'",
    events: [
      {
        ...{ sourceId: "src_1", type: "track", event: "Signed\nUp", userKey: "u1" },
        timeline: [{ time: "2026-11-22T10:00:00.000Z", what: "attempt", destinationId: "dst_1", detail: "try 1" }],
        destinations: [
          { sentence: "Not delivered to Acme yet.", command: "posthaste deliveries --message-id 'm 1'" },
          { sentence: "Not sent to Shop: it was off.", command: "posthaste destinations update dst_2 --enabled" },
        ],
      },
    ],
    complete: true,
  };

  it("says what became of it, how, and what to do, and nothing of it is obeyed by the terminal", async () => {
    command.control.script("GET /v1/events/m%201", verdict);
    const { code, stdout } = await posthaste(["events", "why", "m 1", "--source-id", "src_1"]);
    expect(code).toBe(3);
    expect(stdout.split("\n")).toEqual([
      "Not delivered to  [31mAcme yet.",
      "",
      "src_1  track  Signed Up  u1",
      "  2026-11-22T10:00:00.000Z  attempt  dst_1  try 1",
      "  Not delivered to Acme yet.",
      "  Not sent to Shop: it was off.",
      "    Next: posthaste destinations update dst_2 --enabled",
      "",
      "Next: posthaste deliveries --message-id 'm 1'",
      "",
    ]);
  });

  it("ends with 0 where a repeat was dropped of what arrived", async () => {
    const events = ["duplicate_of", "delivered"].map((cause) => ({ cause, timeline: [], destinations: [] }));
    command.control.script("GET /v1/events/m1", { ...verdict, cause: "duplicate_of", events });
    expect((await posthaste(["events", "why", "m1"])).code).toBe(0);
    command.control.script("GET /v1/events/m1", { ...verdict, cause: "duplicate_of", events: events.slice(0, 1) });
    expect((await posthaste(["events", "why", "m1"])).code).toBe(3);
  });

  it.each([
    ["delivered", 0],
    ["delivered_elsewhere", 0],
    ["unknown", 3],
    ["dead_letter", 3],
  ])("of %s ends with %d, and says what is not known yet", async (cause, code) => {
    const document = { ...verdict, cause, command: null, events: [], complete: false };
    command.control.script("GET /v1/events/m1", document);
    const reported = await posthaste(["events", "why", "m1", "--json"]);
    expect([reported.code, JSON.parse(reported.stdout)]).toEqual([code, document]);
    expect(reported.stderr).toContain("still reading the log");
  });
});
