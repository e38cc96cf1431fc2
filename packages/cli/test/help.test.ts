import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createProgram } from "../src/program.ts";
import { type FakeControl, runBinary, startFakeControl, TOKEN } from "./fake-control.ts";
import { createTestTerminal, runCommand } from "./test-terminal.ts";

/** Every command that does something, as its words. */
function commandPaths(): string[][] {
  const { terminal } = createTestTerminal();
  const program = createProgram({ terminal, version: "0", defaultDataDir: "" }, async () => {});
  const walk = (command: typeof program, path: string[]): string[][] => [
    ...(command.commands.length === 0 || command.name() === "deliveries" ? [path] : []),
    ...command.commands.flatMap((child) => walk(child, [...path, child.name()])),
  ];
  return walk(program, []);
}

/** The help of a command, as it is printed. */
async function helpOf(path: readonly string[]): Promise<string> {
  const { terminal, stdout } = createTestTerminal();
  const program = createProgram({ terminal, version: "0", defaultDataDir: "" }, async () => {});
  await program.parseAsync([...path, "--help"], { from: "user" }).catch(() => {});
  return stdout();
}

/** Words of an example, quoted ones kept together. */
function words(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}

describe("help", () => {
  let control: FakeControl;
  let dir: string;

  beforeAll(async () => {
    control = await startFakeControl();
    dir = await mkdtemp(join(tmpdir(), "posthaste-help-"));
    await writeFile(join(dir, "secret.txt"), "s3cret\n");
    await writeFile(join(dir, "token.txt"), `${TOKEN}\n`);
    await mkdir(join(dir, "0", "posthaste"), { recursive: true });
    const production = { url: "https://control.example", token: TOKEN };
    const profiles = JSON.stringify({ current: null, profiles: { production } });
    await writeFile(join(dir, "0", "posthaste", "profiles.json"), profiles);
    await writeFile(join(dir, "members.ndjson"), '"ada"\n');
    await writeFile(join(dir, "values.ndjson"), '{"userId": "ada", "value": 1}\n');
    await writeFile(join(dir, "users.txt"), "user-7\nuser-8\n");
    await writeFile(join(dir, "settings.json"), JSON.stringify({ urls: [{ url: "https://a.example/" }] }));
    const source = "src_4k2v8m1n0p3q5r7s";
    const destination = "dst_4k2v8m1n0p3q5r7s";
    const document = { id: "x" };
    for (const kind of ["sources", "destinations"]) {
      control.script(`GET /v1/${kind}`, { data: [document], nextCursor: null });
      control.script(`POST /v1/${kind}`, document, 201);
    }
    for (const path of [`/v1/sources/${source}`, `/v1/destinations/${destination}`]) {
      control.script(`GET ${path}`, document);
      control.script(`PATCH ${path}`, document);
      control.script(`DELETE ${path}`, undefined, 204);
    }
    control.script(`POST /v1/sources/${source}/write-key`, document);
    control.script(`GET /v1/sources/${source}/calls`, { data: [document], counts: {}, complete: true });
    control.script(`POST /v1/sources/${source}/sample`, { messageId: "m", taken: true });
    for (const step of ["next", "switch", "undo", "retire"]) {
      control.script(`POST /v1/destinations/${destination}/secret/${step}`, document);
    }
    const url = { url: "https://a.example/", outcome: "delivered" };
    control.script(`POST /v1/destinations/${destination}/test`, { messageId: "m", urls: [url] });
    control.script("POST /v1/destinations/test", { messageId: "m", urls: [url] });
    control.script("POST /v1/deliveries/resend", { replayId: "rsd_1", copyWaits: false }, 202);
    const receiver = { id: "rcv_1", url: "http://127.0.0.1:1/receive/rcv_1", received: 1 };
    control.script("POST /v1/test-receivers", receiver, 201);
    const arrived = { seq: 1, method: "POST", headers: {}, bodyBase64: "e30=", bytes: 2, signature: "unchecked" };
    control.script("GET /v1/test-receivers/rcv_1", { ...receiver, requests: [arrived] });
    control.script("POST /v1/deletions", { id: "del_1", notifications: 1 }, 202);
    control.script("GET /v1/deletions", { data: [document], nextCursor: null });
    control.script("GET /v1/deletions/ticket-4711", document);
    control.script("GET /v1/suppressions", { userId: "user-7", sourceIds: [source] });
    control.script("DELETE /v1/suppressions", { userId: "user-7", ended: [source] });
    const notifications = "deletions/ticket-4711/notifications";
    for (const path of ["deliveries", "deliveries/latest", "dead-letters", "dead-letters/counts", notifications]) {
      control.script(`GET /v1/${path}`, { data: [document], nextCursor: null, complete: true });
    }
    const scanned = 'event: done\ndata: {"records":1,"of":1,"finds":1}\n\n';
    control.scriptRequest("GET /v1/events/message-7/scan", () => ({ status: 200, body: scanned }));
    control.script("GET /v1/events", { data: [document], nextCursor: null, complete: true });
    control.script("GET /v1/events/message-7", {
      cause: "delivered",
      sentence: "Delivered.",
      events: [],
      complete: true,
    });
    const states = { open: 0, failing: 0, healthy: 1, off: 0 };
    control.script("GET /openapi.json", { info: { version: "0.1.0" } });
    control.script("GET /v1/status", { ready: true, destinations: states, complete: true });
    control.script("GET /v1/doctor", { ok: true, checks: [] });
    control.script("GET /v1/health/destinations", { data: [document], nextCursor: null, complete: true });
    control.script(`GET /v1/health/destinations/${destination}`, document);
    control.script("GET /v1/dead-letters/groups", { data: [document], complete: true });
    control.script("GET /v1/dead-letters/3%3A1042", document);
    control.script("GET /v1/dead-letters/export", document);
    const replay = "rpl_4k2v8m1n0p3q5r7s";
    control.script("POST /v1/replays", { id: replay, plan: replay, matched: 1 }, 202);
    control.script("POST /v1/dead-letters/purge", { id: replay, plan: replay, matched: 1 }, 202);
    const done = { id: replay, state: "done", matched: 1, replayed: 1, endedAt: "now" };
    control.script("GET /v1/replays", { data: [done], nextCursor: null });
    control.script(`GET /v1/replays/${replay}`, done);
    for (const act of ["pause", "resume", "cancel"]) control.script(`POST /v1/replays/${replay}/${act}`, done);
    const audience = "/v1/audiences/aud_4k2v8m1n0p3q5r7s";
    for (const path of ["audiences", "computed-traits"]) {
      control.script(`GET /v1/${path}`, { data: [document], nextCursor: null });
    }
    control.script("POST /v1/audiences", document, 201);
    control.script(`GET ${audience}`, document);
    control.script(`DELETE ${audience}`, undefined, 204);
    control.script(`PUT ${audience}/members`, { added: 1, removed: 0, unchanged: 0 });
    control.script(`PATCH ${audience}/members`, { added: 1, removed: 0, unchanged: 0 });
    control.script(`GET ${audience}/members/ada`, { userId: "ada", member: true, since: null });
    control.script("PUT /v1/computed-traits/lifetime_value", { changed: 1, unchanged: 0 });
    control.script("GET /v1/unreadable", { data: [document], nextCursor: null });
    control.script("POST /v1/unreadable/reproduce", { matched: 1, reproduced: 1 });
    const loss = { topic: "posthaste.deliveries.retry-10s", partition: 3, from: 120, to: 4712, records: 4500 };
    control.script("POST /v1/topics/accept-loss", { losses: [loss], accepted: false });
    control.script("GET /v1/tokens", { data: [document], nextCursor: null });
    control.script("POST /v1/tokens", { ...document, token: "pht_1" }, 201);
    control.script("DELETE /v1/tokens/tok_4k2v8m1n0p3q5r7s", undefined, 204);
    control.script("GET /v1/audit", { data: [document], nextCursor: null, complete: true });
    // The follower's token is revoked when the first stream ends.
    control.scriptRequest("GET /v1/live", ({ headers }) =>
      headers["last-event-id"] === undefined
        ? { status: 200, body: "event: beat\nid: 1\ndata: {}\n\n" }
        : { status: 401 },
    );
    control.script("GET /v1/session", { name: "admin" });
    control.script("POST /v1/session/link", { link: "http://127.0.0.1:1/#sign-in=x", expiresAt: "now" }, 201);
    control.script("GET /readyz", { ready: true, checks: { tables: true } });
  });

  afterAll(async () => {
    await control.close();
    await rm(dir, { recursive: true });
  });

  it.each([[], ...commandPaths()].map((path) => [path.join(" ") || "posthaste itself", path] as const))(
    "of %s shows examples, and each of them works",
    async (_, path) => {
      const examples = (await helpOf(path)).match(/^ {2}\$ posthaste .*$/gm) ?? [];
      expect(examples.length).toBeGreaterThan(0);
      const runs = examples.map((line, index) =>
        // Nobody is there to be asked.
        runCommand([...words(line.replace("  $ posthaste ", "")), "--url", control.url, "--yes"], {
          cwd: dir,
          // Each has profiles of its own.
          env: { POSTHASTE_ADMIN_TOKEN: TOKEN, XDG_CONFIG_HOME: join(dir, String(index)) },
        }),
      );
      for (const [index, { code, stderr }] of (await Promise.all(runs)).entries()) {
        const isFollowing = examples[index]?.includes(" --follow") === true;
        expect([code, stderr]).toEqual(isFollowing ? [4, expect.stringMatching(/^lost/)] : [0, expect.any(String)]);
      }
    },
  );

  it("is asked for without a token or a control, on standard output, and ends with 0", async () => {
    const { code, stdout, stderr } = await runBinary(["sources", "--help"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^Usage: posthaste sources/);
  });

  it("that was not asked for goes to standard error, and ends with 2", async () => {
    const { code, stdout, stderr } = await runBinary(["sources"]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^Usage: posthaste sources/);
  });

  it.each([
    [["destinations", "create"], "posthaste destinations create"],
    [["secret", "next", "dst_1"], "posthaste secret next"],
    [["sources", "update", "src_1", "--colour", "red"], "posthaste sources update"],
    [["send"], "posthaste send"],
    [["--nothing-such"], "posthaste"],
  ])("that %j is told to look at is the command's own", async (args, named) => {
    const { code, stderr } = await runCommand(args);
    expect([code, stderr.split("\n")[1]]).toEqual([2, `  ${named} --help shows what there is`]);
    expect((await runCommand([...named.split(" ").slice(1), "--help"])).stdout).toMatch(`Usage: ${named} `);
  });

  it("is about a version too", async () => {
    const { code, stdout } = await runBinary(["--version"]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
  });
});
