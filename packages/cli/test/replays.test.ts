import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { eventually } from "@posthaste/testkit/eventually";
import { describe, expect, it } from "vitest";
import { BINARY, runBinary, TOKEN } from "./fake-control.ts";
import { useCommand } from "./harness.ts";

const command = useCommand();
const { posthaste, lastBody } = command;
const END = "2026-11-21T10:00:00.000Z";
const calls = (): string[] => command.control.requests.map(({ method, path }) => `${method} ${path}`);

/** A plan of two, and a replay that ends at the second look in `state`. */
function scriptReplay(state: string, matched = 2): void {
  command.control.scriptRequest("POST /v1/replays", ({ body }) => {
    const { dryRun = false } = JSON.parse(body.toString());
    const leftOut = { deliveredSince: 41, suppressed: 2, purged: 0 };
    const counts = [{ destinationId: "dst_1", count: matched }];
    const answer = { id: dryRun ? null : "rpl_1", plan: dryRun ? "rpl_1" : null, matched, leftOut, counts };
    return { status: 202, body: JSON.stringify(answer) };
  });
  let looks = 0;
  command.control.scriptRequest("GET /v1/replays/rpl_1", () => {
    looks += 1;
    const [isOver, replayed] = [looks > 1, looks > 1 ? matched : 1];
    const leftOutSince = { destinationOff: state === "done" ? 0 : 1 };
    const outcomes = { delivered: isOver ? matched : 0, failedAgain: 0 };
    const replay = { id: "rpl_1", state: isOver ? state : "running", matched, replayed, ...outcomes, leftOutSince };
    return { body: JSON.stringify({ ...replay, endedAt: isOver ? END : null }) };
  });
}

describe("a replay of dead letters", () => {
  it("is followed on when its control is away for a moment, and not when it never answered", async () => {
    const answers = [
      { state: "running", endedAt: null },
      { status: 503, detail: "it is being started" },
      { state: "done", endedAt: END },
    ];
    command.control.scriptRequest("GET /v1/replays/rpl_1", () => {
      const { status = 200, ...answer } = answers.shift() ?? {};
      const replay = { id: "rpl_1", matched: 2, replayed: 1, delivered: 1, failedAgain: 0, leftOutSince: {} };
      return { status, body: JSON.stringify({ ...replay, ...answer }) };
    });
    const { code, stderr } = await posthaste(["replays", "watch", "rpl_1"]);
    expect([code, stderr]).toEqual([
      0,
      "it is being started; rpl_1 goes on without it, and is asked for again\nsent 1 of 2 again: 1 delivered\n",
    ]);
    command.control.script("GET /v1/replays/rpl_1", { detail: "it is being started" }, 503);
    expect((await posthaste(["replays", "watch", "rpl_1"])).code).toBe(5);
  });

  it("is waited for until each outcome is known, which control counts behind what was sent", async () => {
    const known = [
      [null, null],
      [0, 0],
      [1, 0],
      [1, 1],
    ];
    command.control.scriptRequest("GET /v1/replays/rpl_1", () => {
      const [delivered, failedAgain] = known.length > 1 ? (known.shift() ?? []) : (known[0] ?? []);
      const replay = { id: "rpl_1", state: "done", matched: 2, replayed: 2, leftOutSince: {}, endedAt: END };
      return { body: JSON.stringify({ ...replay, delivered, failedAgain }) };
    });
    const { code, stdout, stderr } = await posthaste(["replays", "watch", "rpl_1"]);
    expect([code, stderr]).toEqual([0, "sent 2 of 2 again: 1 delivered, 1 failed again\n"]);
    expect(stdout).toContain("delivered\t1\nfailedAgain\t1\n");
  });

  it("whose outcomes do not come says of how many, and how to look again", { timeout: 60_000 }, async () => {
    const replay = { id: "rpl_1", state: "done", matched: 3, replayed: 3, leftOutSince: {}, endedAt: END };
    command.control.script("GET /v1/replays/rpl_1", { ...replay, delivered: 2, failedAgain: 0 });
    const { code, stderr } = await posthaste(["replays", "watch", "rpl_1"]);
    expect([code, stderr.replace(/^outcomes: .*\n/gm, "")]).toEqual([
      0,
      [
        "sent 3 of 3 again: 2 delivered, 1 not known yet",
        "  posthaste replays get rpl_1              says later what came of them",
        "  posthaste deliveries --replay-id rpl_1   shows each attempt\n",
      ].join("\n"),
    ]);
  });

  it("is only counted under --dry-run, with what is left out and how to start it", async () => {
    scriptReplay("done");
    const { code, stdout, stderr } = await posthaste([
      ...["dead-letters", "replay", "--reason", "window_expired", "--message-ids", "a,b", "--dry-run"],
      ...["--rate-per-second", "50", "--again"],
    ]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("plan\trpl_1\nmatched\t2\n")]);
    expect(stderr).toBe(
      [
        "left out: 41 delivered since, 2 suppressed",
        "would send 2 dead letters again",
        "  posthaste dead-letters replay --plan rpl_1   sends these, within an hour\n",
      ].join("\n"),
    );
    const asked = { reason: "window_expired", messageIds: ["a", "b"], again: true, ratePerSecond: 50, dryRun: true };
    expect([command.control.requests.length, lastBody()]).toEqual([1, asked]);
  });

  it.each([
    ["done", 0, "sent 2 of 2 again: 2 delivered\n"],
    ["failed", 6, "sent 2 of 2 again: 2 delivered; left out: 1 destination off\n"],
    ["cancelled", 6, "sent 2 of 2 again: 2 delivered; left out: 1 destination off\n"],
  ])("is started by its plan after a yes and followed until it is %s", async (state, expected, said) => {
    scriptReplay(state);
    const asked = await posthaste(["dead-letters", "replay", "--destination-id", "dst_1"]);
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining("Send 2 dead letters again?")]);
    expect(command.control.requests).toHaveLength(1);
    const run = ["dead-letters", "replay", "--destination-id", "dst_1", "--rate-per-second", "7", "--yes"];
    const { code, stdout, stderr } = await posthaste(run);
    expect([code, stderr]).toEqual([expected, expect.stringContaining(said)]);
    expect(stdout).toContain("replayed\t2\n");
    expect(calls().slice(1)).toEqual([
      ...["POST /v1/replays", "POST /v1/replays"],
      ...["GET /v1/replays/rpl_1", "GET /v1/replays/rpl_1"],
    ]);
    expect(JSON.parse(command.control.requests[2]?.body.toString() ?? "")).toEqual({ plan: "rpl_1", ratePerSecond: 7 });
  });

  it("is started by a plan of before, and left running under --no-wait", async () => {
    scriptReplay("done");
    const { code, stderr } = await posthaste(["dead-letters", "replay", "--plan", "rpl_1", "--no-wait", "--yes"]);
    expect([code, stderr]).toEqual([0, expect.stringContaining("posthaste replays cancel rpl_1   stops it\n")]);
    expect(calls()).toEqual(["GET /v1/replays/rpl_1", "POST /v1/replays", "GET /v1/replays/rpl_1"]);
    const both = await posthaste(["dead-letters", "replay", "--plan", "rpl_1", "--reason", "suppressed"]);
    expect([both.code, both.stderr]).toEqual([2, "posthaste: --plan says which dead letters: name it alone\n"]);
  });

  it("is not asked about when none would be sent again", async () => {
    command.control.script("POST /v1/replays", { id: null, plan: null, matched: 0 }, 202);
    const { code, stderr } = await posthaste(["dead-letters", "replay"]);
    expect([code, stderr]).toEqual([3, "nothing matches\n"]);
  });
});

describe("replays", () => {
  const replay = { id: "rpl_1", state: "paused", matched: 9, replayed: 4, ratePerSecond: null, startedAt: END };

  it("are listed, shown, paused, resumed and cancelled", async () => {
    command.control.script("GET /v1/replays", {
      data: [{ ...replay, endedAt: null, delivered: 3, failedAgain: 1 }],
      nextCursor: null,
    });
    expect((await posthaste(["replays", "list"])).stdout).toBe(`rpl_1\tpaused\t9\t4\t\t${END}\t\t3\t1\n`);
    command.control.script("GET /v1/replays/rpl_1", replay);
    expect((await posthaste(["replays", "get", "rpl_1"])).stdout).toContain("replayed\t4\n");
    for (const act of ["pause", "resume", "cancel"]) {
      command.control.script(`POST /v1/replays/rpl_1/${act}`, replay);
      const { code, stderr } = await posthaste(["replays", act, "rpl_1"]);
      expect([code, stderr]).toEqual([0, expect.stringContaining("rpl_1 is paused: 4 of 9 went\n")]);
    }
    command.control.script("POST /v1/replays/rpl_1/resume", { detail: "rpl_1 is done" }, 409);
    expect((await posthaste(["replays", "resume", "rpl_1"])).code).toBe(3);
  });

  it("that are watched go on at Ctrl-C, which says how to stop them", async () => {
    const running = { ...replay, state: "running", endedAt: null };
    command.control.script("GET /v1/replays/rpl_1", running);
    const env = { PATH: process.env.PATH, POSTHASTE_ADMIN_TOKEN: TOKEN };
    const watching = spawn(process.execPath, [BINARY, "replays", "watch", "rpl_1", "--url", command.control.url], {
      env,
    });
    const [stderr, exited] = [text(watching.stderr), once(watching, "exit")];
    await eventually(() => expect(command.control.requests.length).toBeGreaterThan(1));
    watching.kill("SIGINT");
    expect((await exited)[0]).toBe(130);
    // Behind how far it was, where that took seconds.
    expect(await stderr).toContain(
      [
        "rpl_1 goes on without this command",
        "  posthaste replays watch rpl_1    looks at it again",
        "  posthaste replays cancel rpl_1   stops it\n",
      ].join("\n"),
    );
  });
});

describe("dead letters", () => {
  it("in groups say what helps, and one is shown by its place", async () => {
    const group = {
      count: 9,
      open: 7,
      deliveredSince: 1,
      destinationId: "dst_1",
      reason: "window_expired",
      error: "503",
      lastAt: END,
    };
    command.control.script("GET /v1/dead-letters/groups", { data: [{ ...group, remedy: "replay" }], complete: true });
    const groups = await posthaste(["dead-letters", "groups", "--error", "503"]);
    expect([groups.code, groups.stdout]).toEqual([0, `7\t1\tdst_1\twindow_expired\t503\t${END}\treplay\n`]);
    expect(command.control.requests.at(-1)?.target).toBe("/v1/dead-letters/groups?error=503&limit=200");
    command.control.script("GET /v1/dead-letters/3%3A1042", { place: "3:1042", body: "{}" });
    expect((await posthaste(["dead-letters", "show", "3:1042"])).stdout).toBe("place\t3:1042\nbody\t{}\n");
  });

  it("are purged by a plan after a yes, and only where it is said which", { timeout: 60_000 }, async () => {
    expect((await posthaste(["dead-letters", "purge", "--yes"])).code).toBe(2);
    const planned = { id: null, plan: "rpl_2", matched: 3, leftOut: {} };
    command.control.script("POST /v1/dead-letters/purge", planned, 202);
    const dry = await posthaste(["dead-letters", "purge", "--user-id", "user-7", "--dry-run"]);
    const next = "  posthaste dead-letters purge --plan rpl_2   purges these, within an hour\n";
    expect([dry.code, dry.stderr]).toEqual([0, `would purge 3 dead letters\n${next}`]);
    const asked = await posthaste(["dead-letters", "purge", "--user-id", "user-7"]);
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining("Purge 3 dead letters, for good?")]);
    expect((await posthaste(["dead-letters", "purge", "--user-id", "user-7", "--yes"])).code).toBe(0);
    expect(command.control.requests.slice(-2).map(({ body }) => JSON.parse(body.toString()))).toEqual([
      { userId: "user-7", dryRun: true },
      { plan: "rpl_2" },
    ]);
    command.control.script("POST /v1/dead-letters/purge", { ...planned, plan: null, matched: 0 }, 202);
    expect((await posthaste(["dead-letters", "purge", "--user-id", "user-8"])).code).toBe(3);
  });

  it("are purged by a plan of before, which is shown and asked about first", { timeout: 60_000 }, async () => {
    const planned = { id: null, plan: "rpl_2", matched: 3, leftOut: {}, counts: [] };
    command.control.script("POST /v1/dead-letters/purge", planned, 202);
    const bodies = () => command.control.requests.map(({ body }) => JSON.parse(body.toString()));
    const run = ["dead-letters", "purge", "--plan", "rpl_2"];
    const asked = await posthaste(run);
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining("Purge 3 dead letters, for good?")]);
    expect((await posthaste([...run, "--dry-run"])).stderr).toContain("would purge 3 dead letters\n");
    const shown = { plan: "rpl_2", dryRun: true };
    expect(bodies()).toEqual([shown, shown]);
    expect((await posthaste([...run, "--yes"])).code).toBe(0);
    expect(bodies().slice(2)).toEqual([shown, { plan: "rpl_2" }]);
    const both = await posthaste([...run, "--reason", "suppressed"]);
    expect([both.code, both.stderr]).toEqual([2, "posthaste: --plan says which dead letters: name it alone\n"]);
  });

  it("are exported to standard output, or to a file that is there when it is whole", async () => {
    const lines = '{"place":"0:0"}\n{"place":"0:1"}\n';
    const counts = { data: [{ count: 2 }], nextCursor: null, complete: true };
    command.control.script("GET /v1/dead-letters/counts", counts);
    command.control.scriptRequest("GET /v1/dead-letters/export", () => ({ body: lines }));
    expect(await posthaste(["dead-letters", "export", "--reason", "suppressed"])).toEqual({
      ...{ code: 0, stdout: lines, stderr: "exported 2 dead letters\n" },
    });
    expect(command.control.requests.at(-1)?.target).toBe("/v1/dead-letters/export?reason=suppressed&format=ndjson");
    const file = await posthaste(["dead-letters", "export", "--format", "csv", "--output", "letters.csv"]);
    expect([file.code, file.stdout, file.stderr]).toEqual([0, "", "exported 1 dead letter to letters.csv\n"]);
    expect(await readFile(join(command.dir, "letters.csv"), "utf8")).toBe(lines);
    await expect(access(join(command.dir, "letters.csv.partial"))).rejects.toThrow("ENOENT");
    const nowhere = await posthaste(["dead-letters", "export", "--output", "/nonexistent/letters"]);
    expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining("cannot be written: ENOENT")]);
    command.control.script("GET /v1/dead-letters/export", { detail: "type: expected one of page" }, 400);
    expect((await posthaste(["dead-letters", "export", "--type", "x"])).code).toBe(2);
  });

  it("whose export leaves some out say of how many at its end", async () => {
    const exported = async (trailers: Record<string, string>) => {
      const control = createServer(({ url = "" }, response) => {
        if (!url.includes("/export")) return void response.end('{"data": [], "nextCursor": null, "complete": false}');
        response.writeHead(200, { trailer: Object.keys(trailers).join() }).write('{"place":"0:0"}\n');
        response.addTrailers(trailers);
        response.end();
      });
      await once(control.listen(0, "127.0.0.1"), "listening");
      const { port } = control.address() as AddressInfo;
      const run = ["dead-letters", "export", "--url", `http://127.0.0.1:${port}`];
      const { code, stdout, stderr } = await runBinary(run, { env: { POSTHASTE_ADMIN_TOKEN: TOKEN } });
      control.close();
      expect([code, stdout]).toEqual([0, '{"place":"0:0"}\n']);
      return stderr;
    };
    expect(await exported({ "Posthaste-Left-Out": "suppressed=3, purged=12" })).toBe(
      "exported 1 dead letter; left out: 3 suppressed, 12 purged\n",
    );
    expect(await exported({ "Posthaste-Left-Out": "suppressed=0, purged=0" })).toBe("exported 1 dead letter\n");
    // As an earlier release's control answers.
    expect(await exported({})).toBe("exported 1 dead letter\n");
  });

  it("whose export breaks off are no whole file, and the command says so", async () => {
    const breaking = createServer(({ url = "" }, response) => {
      const isExport = url.includes("/export");
      response.write(isExport ? "half of a line" : JSON.stringify({ data: [], nextCursor: null, complete: false }));
      if (isExport) setTimeout(() => response.destroy(), 50);
      else response.end();
    });
    await once(breaking.listen(0, "127.0.0.1"), "listening");
    const { port } = breaking.address() as AddressInfo;
    const run = ["dead-letters", "export", "--output", "broken.ndjson", "--url", `http://127.0.0.1:${port}`];
    const options = { cwd: command.dir, env: { POSTHASTE_ADMIN_TOKEN: TOKEN } };
    const { code, stderr } = await runBinary(run, options);
    breaking.close();
    expect([code, stderr]).toEqual([1, expect.stringContaining("broke off in the middle")]);
    await expect(access(join(command.dir, "broken.ndjson"))).rejects.toThrow("ENOENT");
  });
});
