import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  type FakeControl,
  type RunOptions,
  type RunResult,
  runBinary,
  startFakeControl,
  TOKEN,
} from "./fake-control.ts";

let control: FakeControl;
let dir: string;

beforeAll(async () => {
  control = await startFakeControl();
  dir = await mkdtemp(join(tmpdir(), "posthaste-cli-"));
});

afterAll(async () => {
  await control.close();
  await rm(dir, { recursive: true });
});

beforeEach(() => control.reset());

/** With the URL and the token that the fake takes. */
const posthaste = (args: readonly string[], options: RunOptions = {}): Promise<RunResult> =>
  runBinary([...args, "--url", control.url], {
    cwd: dir,
    ...options,
    env: { POSTHASTE_ADMIN_TOKEN: TOKEN, ...options.env },
  });

const lastBody = (): unknown => JSON.parse(control.requests.at(-1)?.body.toString() || "null");

const SITE = {
  id: "src_1",
  name: "Web\tshop\u001b[31m",
  kind: "web",
  writeKey: "wk1",
  oldWriteKeys: [],
  enabled: true,
  revision: 7,
  createdAt: "2026-11-21T10:00:00.000Z",
};
const APP = { ...SITE, id: "src_2", name: "App", kind: "mobile", writeKey: "wk2" };

describe("standard output", () => {
  it("has a list as tab-separated columns, whole, one line each, when it is no terminal", async () => {
    control.script("GET /v1/sources", { data: [SITE, APP], nextCursor: null });
    const { code, stdout, stderr } = await posthaste(["sources", "list"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toBe(
      "src_1\tWeb shop [31m\tweb\ttrue\twk1\t2026-11-21T10:00:00.000Z\n" +
        "src_2\tApp\tmobile\ttrue\twk2\t2026-11-21T10:00:00.000Z\n",
    );
    expect(control.requests[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
  });

  it("has one object a line for a list under --json, with the API's fields, and nothing else", async () => {
    control.script("GET /v1/sources", { data: [SITE, APP], nextCursor: null });
    const { stdout, stderr } = await posthaste(["sources", "list", "--json"]);
    expect(stderr).toBe("");
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([SITE, APP]);
  });

  it("is empty for an empty list", async () => {
    control.script("GET /v1/sources", { data: [], nextCursor: null });
    expect(await posthaste(["sources", "list"])).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(await posthaste(["--json", "sources", "list"])).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  it("has one document as a field a line, and as one JSON document under --json", async () => {
    control.script("GET /v1/sources/src_1", SITE);
    const plain = await posthaste(["sources", "get", "src_1"]);
    expect(plain.stdout).toContain("id\tsrc_1\nname\tWeb shop [31m\n");
    const json = await posthaste(["sources", "get", "src_1", "--json"]);
    expect(JSON.parse(json.stdout)).toEqual(SITE);
  });

  it("goes through all pages of a list, or as far as --limit", async () => {
    control.scriptRequest("GET /v1/sources", ({ target }) => {
      const query = new URLSearchParams(target.split("?")[1]);
      const page =
        query.get("cursor") === "next" ? { data: [APP], nextCursor: null } : { data: [SITE], nextCursor: "next" };
      return { body: JSON.stringify(page) };
    });
    expect((await posthaste(["sources", "list"])).stdout.split("\n")).toHaveLength(3);
    expect((await posthaste(["sources", "list", "--limit", "1"])).stdout.split("\n")).toHaveLength(2);
    expect(control.requests.at(-1)?.target).toBe("/v1/sources?limit=1");
  });
});

describe("sources", () => {
  it("are made, changed, and given a new write key", async () => {
    control.script("POST /v1/sources", SITE, 201);
    control.script("PATCH /v1/sources/src_1", SITE);
    control.script("POST /v1/sources/src_1/write-key", SITE);
    expect((await posthaste(["sources", "create", "--name", "Web shop", "--kind", "web"])).code).toBe(0);
    expect(lastBody()).toEqual({ name: "Web shop", kind: "web", enabled: true });
    expect((await posthaste(["sources", "update", "src_1", "--no-enabled"])).code).toBe(0);
    expect(lastBody()).toEqual({ enabled: false });
    expect((await posthaste(["sources", "rotate-write-key", "src_1", "--old-key-for", "2h"])).code).toBe(0);
    expect(lastBody()).toEqual({ oldKeySeconds: 7200 });
  });

  it("are not asked about when nothing is to change", async () => {
    const { code, stderr } = await posthaste(["sources", "update", "src_1"]);
    expect([code, stderr]).toEqual([2, "posthaste: name at least one thing to change\n"]);
    expect(control.requests).toHaveLength(0);
  });
});

describe("removing", () => {
  it("one needs no question", async () => {
    control.script("DELETE /v1/sources/src_1", undefined, 204);
    expect(await posthaste(["sources", "remove", "src_1"])).toEqual({
      code: 0,
      stdout: "",
      stderr: "removed source src_1\n",
    });
  });

  it("many asks with the count, and without a terminal needs --yes", async () => {
    const { code, stderr } = await posthaste(["destinations", "remove", "dst_1", "dst_2"]);
    expect(code).toBe(2);
    expect(stderr).toBe(
      "posthaste: Remove 2 destinations? there is no terminal to answer this on\n" +
        "  add --yes to go on, or --dry-run to see what would be done\n",
    );
    expect(control.requests).toHaveLength(0);
    control.script("DELETE /v1/destinations/dst_1", undefined, 204);
    control.script("DELETE /v1/destinations/dst_2", undefined, 204);
    expect((await posthaste(["destinations", "remove", "dst_1", "dst_2", "--yes", "--quiet"])).stderr).toBe("");
  });

  it("many of which some are not there ends with 6, none with 3", async () => {
    control.script("DELETE /v1/sources/src_1", undefined, 204);
    const partly = await posthaste(["sources", "remove", "src_1", "src_gone", "--yes"]);
    expect([partly.code, partly.stderr]).toEqual([6, "removed source src_1\nthere is no /v1/sources/src_gone\n"]);
    expect((await posthaste(["sources", "remove", "src_gone", "src_gone2", "--yes"])).code).toBe(3);
    expect((await posthaste(["sources", "remove", "src_gone"])).code).toBe(3);
  });

  it("only shows what it would do under --dry-run", async () => {
    control.script("GET /v1/sources/src_2", APP);
    const { code, stdout, stderr } = await posthaste(["sources", "remove", "src_2", "--dry-run"]);
    expect([code, stdout, stderr]).toEqual([0, "src_2\tApp\n", "would remove source src_2\n"]);
    expect(control.requests.map(({ method }) => method)).toEqual(["GET"]);
  });
});

describe("destinations", () => {
  const destination = {
    id: "dst_1",
    name: "Billing",
    enabled: true,
    sourceIds: ["src_1", "src_2"],
    settings: {
      sharedSecret: { set: true },
      urls: [{ url: "https://a.example/", headers: { "X-Team": "***" } }],
    },
    secretStage: "active",
  };

  it("are made from options named as the API's fields, secrets read from files", async () => {
    control.script("POST /v1/destinations", destination, 201);
    await writeFile(join(dir, "secret"), "s3cret\n");
    const { code } = await posthaste([
      "destinations",
      "create",
      ...["--name", "Billing", "--source-ids", "src_1,src_2", "--urls", "https://a.example/?x=1,2"],
      ...["--urls", "https://b.example/", "--settle", "each", "--rate-limit-per-second", "2.5"],
      ...["--standard-webhooks", "--shared-secret-file", "secret"],
    ]);
    expect(code).toBe(0);
    expect(lastBody()).toEqual({
      type: "Webhooks",
      name: "Billing",
      enabled: true,
      sourceIds: ["src_1", "src_2"],
      settings: {
        urls: [{ url: "https://a.example/?x=1,2" }, { url: "https://b.example/" }],
        settle: "each",
        rateLimitPerSecond: 2.5,
        standardWebhooks: true,
        sharedSecret: "s3cret",
      },
    });
  });

  it("take the API's settings from a file or standard input, other options going over them", async () => {
    control.script("POST /v1/destinations", destination, 201);
    const settings = { settle: "any", urls: [{ url: "https://a.example/", headers: { "X-Team": "a" } }] };
    const args = ["destinations", "create", "--name", "B", "--settle", "each", "--settings-file", "-"];
    expect((await posthaste(args, { stdin: JSON.stringify(settings) })).code).toBe(0);
    expect(lastBody()).toMatchObject({ settings: { ...settings, settle: "each" } });
    const broken = await posthaste(args, { stdin: '{"sharedSecret": "hunter2"' });
    expect(broken.code).toBe(2);
    expect(broken.stderr).toBe("posthaste: --settings-file: expected a JSON object, as the API's settings\n");
  });

  it("keep the headers of a URL that stays when their URLs are changed", async () => {
    control.script("GET /v1/destinations/dst_1", destination);
    control.script("PATCH /v1/destinations/dst_1", destination);
    const args = ["--urls", "https://a.example/", "--urls", "https://new.example/", "--rate-limit-per-second", "none"];
    expect((await posthaste(["destinations", "update", "dst_1", ...args])).code).toBe(0);
    expect(lastBody()).toEqual({
      settings: {
        urls: [{ url: "https://a.example/", headers: { "X-Team": "***" } }, { url: "https://new.example/" }],
        rateLimitPerSecond: null,
      },
    });
  });

  it("are listed with what tells them apart", async () => {
    control.script("GET /v1/destinations", { data: [destination], nextCursor: null });
    expect((await posthaste(["destinations", "list"])).stdout).toBe(
      "dst_1\tBilling\ttrue\tsrc_1,src_2\thttps://a.example/\tactive\n",
    );
  });

  it("have their secret rotated in stages", async () => {
    for (const step of ["next", "switch", "undo", "retire"]) {
      control.script(`POST /v1/destinations/dst_1/secret/${step}`, destination);
      const file = step === "next" ? ["--shared-secret-file", "-"] : [];
      expect((await posthaste(["secret", step, "dst_1", ...file], { stdin: "second\n" })).code).toBe(0);
    }
    expect(control.requests.map(({ path, body }) => [path.split("/").at(-1), body.toString()])).toEqual([
      ["next", '{"sharedSecret":"second"}'],
      ["switch", ""],
      ["undo", ""],
      ["retire", ""],
    ]);
  });
});

describe("a test event", () => {
  it.each([
    ["every URL", ["delivered", "delivered"], 0],
    ["one URL of two", ["delivered", "retryable"], 6],
    ["no URL", ["retryable", "permanent"], 3],
  ])("that %s takes ends with the code for it", async (_, outcomes, expected) => {
    const urls = outcomes.map((outcome, n) => ({ url: `https://${n}.example/`, outcome, status: 200, durationMs: 5 }));
    control.script("POST /v1/destinations/dst_1/test", { messageId: "test_1", type: "identify", urls });
    const { code, stdout, stderr } = await posthaste(["send", "dst_1", "--type", "identify", "--sign-with", "next"]);
    expect([code, stderr]).toEqual([expected, "sent as test_1\n"]);
    expect(stdout.split("\n")[0]).toBe(`https://0.example/\t${outcomes[0]}\t200\t\t5\t`);
    expect(lastBody()).toEqual({ type: "identify", signWith: "next" });
  });
});

describe("deletions", () => {
  it("say how many are notified, and end with 3 when nobody is", async () => {
    control.script("POST /v1/deletions", { id: "del_1", notifications: 2 }, 202);
    const some = await posthaste(["deletions", "create", "--user-id", "user-7", "--source-ids", "src_1,src_2"]);
    expect([some.code, some.stdout]).toEqual([0, "id\tdel_1\nnotifications\t2\n"]);
    expect(lastBody()).toEqual({ userId: "user-7", sourceIds: ["src_1", "src_2"] });
    control.script("POST /v1/deletions", { id: "del_2", notifications: 0 }, 202);
    expect((await posthaste(["deletions", "create", "--user-id", "user-7"])).code).toBe(3);
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
    control.requests.map(({ target }) => Object.fromEntries(new URLSearchParams(target.split("?")[1])));

  it("are shown newest first with what each URL answered, and whole under --json", async () => {
    control.script("GET /v1/deliveries", { data: [attempt], nextCursor: null, complete: true });
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
    control.script("GET /v1/deliveries", { data: [attempt], nextCursor: null, complete: true });
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

  it("go on over pages as far as --limit, keeping what was asked for", async () => {
    control.script("GET /v1/deliveries", { data: [attempt, attempt], nextCursor: "next", complete: true });
    const { stdout } = await posthaste(["deliveries", "--limit", "4", "--outcome", "retryable"]);
    expect(stdout.trimEnd().split("\n")).toHaveLength(4);
    expect(queries()).toEqual([
      { outcome: "retryable", limit: "4" },
      { outcome: "retryable", limit: "2", cursor: "next" },
    ]);
  });

  it("say that entries may be missing while control is still reading, and end with 3 when nothing matches", async () => {
    control.script("GET /v1/deliveries", { data: [], nextCursor: null, complete: false });
    expect(await posthaste(["deliveries"])).toEqual({
      code: 3,
      stdout: "",
      stderr: "control is still reading the log: entries may be missing\nnothing matches\n",
    });
  });

  it.each(["soon", "2026", "10"])("refuse %s as a time", async (time) => {
    const { code, stderr } = await posthaste(["deliveries", "--since", time]);
    expect([code, control.requests.length]).toEqual([2, 0]);
    expect(stderr).toContain("Expected how long ago, such as 10m, or a moment");
  });
});

describe("dead letters", () => {
  const letter = {
    time: "2026-11-21T10:00:00.000Z",
    reason: "window_expired",
    destinationId: "dst_1",
    messageId: "m1",
    type: "track",
    attempts: 10,
    putOffs: 2,
  };

  it("are listed newest first", async () => {
    control.script("GET /v1/dead-letters", { data: [letter], nextCursor: null, complete: true });
    const { code, stdout } = await posthaste(["dead-letters", "list", "--reason", "window_expired", "--limit", "5"]);
    expect([code, stdout]).toEqual([0, "2026-11-21T10:00:00.000Z\tdst_1\tm1\ttrack\twindow_expired\t10\n"]);
    expect(control.requests[0]?.target).toBe("/v1/dead-letters?reason=window_expired&limit=5");
  });

  it("are counted by destination and reason, over all pages", async () => {
    const counts = [
      { destinationId: "dst_1", reason: "window_expired", count: 7 },
      { destinationId: "dst_2", reason: "suppressed", count: 1 },
    ];
    control.scriptRequest("GET /v1/dead-letters/counts", ({ target }) => {
      const isLast = target.includes("cursor=next");
      const page = { data: counts.slice(isLast ? 1 : 0, isLast ? 2 : 1), nextCursor: isLast ? null : "next" };
      return { body: JSON.stringify({ ...page, complete: true }) };
    });
    const { code, stdout } = await posthaste(["dead-letters", "count", "--until", "2026-11-21"]);
    expect([code, stdout]).toEqual([0, "dst_1\twindow_expired\t7\ndst_2\tsuppressed\t1\n"]);
    expect(control.requests[1]?.target).toContain("until=2026-11-21T00%3A00%3A00.000Z");
  });

  const scriptReplay = (state: string): void => {
    control.scriptRequest("POST /v1/dead-letters/replay", ({ body }) => {
      const { dryRun = false } = JSON.parse(body.toString());
      return { status: 202, body: JSON.stringify({ id: dryRun ? null : "rpl_1", matched: 2 }) };
    });
    let looks = 0;
    control.scriptRequest("GET /v1/replays/rpl_1", () => {
      looks += 1;
      const endedAt = looks > 1 ? "2026-11-21T10:00:00.000Z" : null;
      return { body: JSON.stringify({ id: "rpl_1", state, matched: 2, replayed: looks, endedAt }) };
    });
  };

  it("are only counted under --dry-run", async () => {
    scriptReplay("done");
    expect(await posthaste(["dead-letters", "replay", "--reason", "window_expired", "--dry-run"])).toEqual({
      code: 0,
      stdout: "id\t\nmatched\t2\n",
      stderr: "would send 2 dead letters again\n",
    });
    expect(control.requests).toHaveLength(1);
    expect(lastBody()).toEqual({ reason: "window_expired", dryRun: true });
  });

  it.each([
    ["done", 0],
    ["failed", 6],
  ])("are sent again after a yes and followed until that is %s", async (state, expected) => {
    scriptReplay(state);
    const asked = await posthaste(["dead-letters", "replay", "--destination-id", "dst_1"]);
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining("Send 2 dead letters again?")]);
    expect(control.requests).toHaveLength(1);
    const { code, stdout, stderr } = await posthaste(["dead-letters", "replay", "--destination-id", "dst_1", "--yes"]);
    expect([code, stderr]).toEqual([expected, "sent 2 of 2 again\n"]);
    expect(stdout).toContain("replayed\t2\n");
    expect(control.requests.map(({ method }) => method)).toEqual(["POST", "POST", "POST", "GET", "GET"]);
  });

  it("are not asked about when none would be sent again", async () => {
    control.script("POST /v1/dead-letters/replay", { id: null, matched: 0 }, 202);
    const { code, stderr } = await posthaste(["dead-letters", "replay"]);
    expect([code, stderr]).toEqual([3, "nothing matches\n"]);
  });

  it("end with 3 when there are none", async () => {
    control.script("GET /v1/dead-letters/counts", { data: [], nextCursor: null, complete: true });
    expect(await posthaste(["dead-letters", "count", "--quiet"])).toEqual({ code: 3, stdout: "", stderr: "" });
  });
});

describe("doctor", () => {
  it("needs no token, and ends with 3 and the name of what is missing", async () => {
    control.script("GET /readyz", { ready: false, checks: { tables: true, ingest: "does not answer" } }, 503);
    const unready = await runBinary(["doctor", "--url", control.url]);
    expect(unready).toEqual({
      code: 3,
      stdout: "tables\ttrue\t\ningest\tfalse\tdoes not answer\n",
      stderr: "not ready: ingest\n",
    });
    control.script("GET /readyz", { ready: true, checks: { tables: true } });
    expect((await runBinary(["doctor", "--url", control.url])).code).toBe(0);
  });
});

describe("an error", () => {
  it.each([
    ["a wrong token", 401, 4, /^posthaste: the admin token is not the one that control takes\n {2}control's own is/],
    ["input that control refuses", 400, 2, /^posthaste: words of control\n$/],
    ["something that is not there", 404, 3, /^posthaste: words of control\n$/],
    ["a state that does not allow it", 409, 3, /^posthaste: words of control\n$/],
    ["brokers that take no writes", 503, 5, /^posthaste: words of control\n$/],
    ["a failure of control", 500, 1, /^posthaste: words of control\n$/],
  ])("for %s is one line, and its own code", async (_, status, expected, stderr) => {
    control.script("GET /v1/sources/src_1", { detail: "words of control" }, status);
    const result = await posthaste(["sources", "get", "src_1"]);
    expect([result.code, result.stdout]).toEqual([expected, ""]);
    expect(result.stderr).toMatch(stderr);
  });

  it("is 5 when nothing listens, with what to do", async () => {
    const gone = await startFakeControl();
    await gone.close();
    const { code, stderr } = await runBinary(["doctor", "--url", gone.url]);
    expect(code).toBe(5);
    expect(stderr).toMatch(/cannot be reached: .*ECONNREFUSED.*\n {2}is control running\? npm start brings it up/);
  });

  it("is 5 when no answer comes within --timeout", async () => {
    control.scriptRequest("GET /readyz", () => ({ fault: "hang" }));
    const { code, stderr } = await posthaste(["doctor", "--timeout", "100ms"]);
    expect([code, stderr]).toEqual([
      5,
      `posthaste: ${control.url} did not answer within 100 ms\n  give it longer with --timeout 60s\n`,
    ]);
  });

  it("is 1 when something else than control answers", async () => {
    control.script("GET /v1/sources/src_1", "hello");
    const { code, stderr } = await posthaste(["sources", "get", "src_1"]);
    expect([code, stderr]).toEqual([1, `posthaste: ${control.url} does not answer as Posthaste's control API does\n`]);
  });

  it.each([
    [["sources", "lst"], /^posthaste: unknown command 'lst'\n {2}\(Did you mean list\?\)\n$/],
    [["sources", "create"], /^posthaste: required option '--name <name>' not specified\n/],
    [["sources", "list", "--limit", "0"], /argument '0' is invalid. Expected a whole number from 1 up/],
    [["doctor", "--timeout", "soon"], /^posthaste: --timeout: expected a duration such as 500ms, 10s or 2m\n$/],
    [["sources", "list", "--token-file", "missing"], /^posthaste: --token-file: missing cannot be read \(ENOENT\)\n$/],
    [["sources", "list", "--token", "x"], /^posthaste: unknown option '--token'\n/],
  ])("of usage is 2: %j", async (args, stderr) => {
    const result = await posthaste(args);
    expect([result.code, result.stdout]).toEqual([2, ""]);
    expect(result.stderr).toMatch(stderr);
  });

  it("is 2 for an address that is none", async () => {
    const { code, stderr } = await runBinary(["doctor", "--url", "control"]);
    expect([code, stderr]).toEqual([2, "posthaste: --url: expected control's URL, such as http://127.0.0.1:8090\n"]);
  });

  it("is 130 when it is interrupted", async () => {
    control.scriptRequest("GET /readyz", () => ({ fault: "hang" }));
    const { code } = await posthaste(["doctor"], {
      during: async (pid) => {
        await eventually(() => expect(control.requests).toHaveLength(1));
        process.kill(pid, "SIGINT");
      },
    });
    expect(code).toBe(130);
  });
});

describe("the token", () => {
  beforeEach(() => control.script("GET /v1/sources/src_1", SITE));
  const sent = () => control.requests.at(-1)?.headers.authorization;

  it("comes from a file before the environment", async () => {
    await writeFile(join(dir, "token"), "from-file\n");
    await posthaste(["sources", "get", "src_1", "--token-file", "token"]);
    expect(sent()).toBe("Bearer from-file");
  });

  it("and the URL come from the local command's data folder when nothing else is named", async () => {
    await writeFile(join(dir, "admin-token"), "from-folder\n");
    await writeFile(join(dir, "stack.json"), JSON.stringify({ control: control.url }));
    const env = { POSTHASTE_DATA_DIR: dir };
    expect((await runBinary(["sources", "get", "src_1"], { env })).code).toBe(0);
    expect(sent()).toBe("Bearer from-folder");
  });

  it("of the data folder goes to no other control than that folder's", async () => {
    await writeFile(join(dir, "admin-token"), "from-folder\n");
    await writeFile(join(dir, "stack.json"), JSON.stringify({ control: "http://127.0.0.1:9" }));
    const env = { POSTHASTE_DATA_DIR: dir };
    const { code, stderr } = await runBinary(["sources", "get", "src_1", "--url", control.url], { env });
    expect(code).toBe(4);
    expect(stderr).toBe(
      "posthaste: there is no admin token\n  set POSTHASTE_ADMIN_TOKEN, or name a file that holds it with --token-file\n",
    );
    expect(control.requests).toHaveLength(0);
  });
});
