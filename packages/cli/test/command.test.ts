import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "@posthaste/testkit/eventually";
import { beforeEach, describe, expect, it } from "vitest";
import { startFakeControl } from "./fake-control.ts";
import { SITE, useCommand } from "./harness.ts";
import { runCommand } from "./test-terminal.ts";

const command = useCommand();
const { posthaste } = command;

describe("doctor", () => {
  it("needs no token, and ends with 3 and the name of what is missing", async () => {
    command.control.script("GET /readyz", { ready: false, checks: { tables: true, ingest: "does not answer" } }, 503);
    const unready = await runCommand(["doctor", "--url", command.control.url]);
    expect(unready).toEqual({
      code: 3,
      stdout: "tables\ttrue\t\ningest\tfalse\tdoes not answer\n",
      stderr: "not ready: ingest\n",
    });
    command.control.script("GET /readyz", { ready: true, checks: { tables: true } });
    expect((await runCommand(["doctor", "--url", command.control.url])).code).toBe(0);
  });

  it("with a token asks control to look at everything, and prints what is wrong with what helps", async () => {
    command.control.script("GET /readyz", { ready: true, checks: { tables: true } });
    const remedy = "Run the program.";
    const checks = [
      { name: "services", state: "ok", findings: [] },
      { name: "topics", state: "wrong", findings: [{ state: "wrong", what: "t\tis\nmissing.", remedy }] },
      { name: "replication", state: "warning", findings: [{ state: "warning", what: "One copy.", remedy }] },
    ];
    command.control.script("GET /v1/doctor", { ok: false, checks });
    expect(await posthaste(["doctor"])).toEqual({
      code: 3,
      stdout: [
        "● services: ok",
        ...["■ topics: wrong", "  t is missing.", `    → ${remedy}`],
        ...["▲ replication: warning", "  One copy.", `    → ${remedy}`, ""],
      ].join("\n"),
      stderr: "look at: topics (wrong), replication (warning)\n",
    });
    command.control.script("GET /v1/doctor", { ok: true, checks: [checks[0], checks[2]] });
    expect((await posthaste(["doctor"])).code).toBe(0);
    expect(JSON.parse((await posthaste(["doctor", "--json"])).stdout)).toMatchObject({ ok: true, checks: [{}, {}] });
  });

  it("asks for the checks that are named, and for the receivers", async () => {
    command.control.script("GET /readyz", { ready: true, checks: { tables: true } });
    command.control.script("GET /v1/doctor", { ok: true, checks: [] });
    expect(await posthaste(["doctor", "--only", "brokers,keys", "--reach"])).toMatchObject({ code: 0 });
    expect(command.control.requests.at(-1)?.target).toBe("/v1/doctor?only=brokers%2Ckeys&reach=true");
  });

  it("with a token says what lacks while control has not read its tables", async () => {
    command.control.script("GET /readyz", { ready: false, checks: { tables: "reading the configuration" } }, 503);
    const { code, stderr } = await posthaste(["doctor"]);
    expect([code, stderr]).toEqual([3, "not ready: tables\n"]);
  });

  it("says what names control where something else answers", async () => {
    command.control.script("GET /readyz", { code: "not_found" }, 404);
    const { code, stderr } = await posthaste(["doctor"]);
    expect([code, stderr]).toEqual([
      1,
      "posthaste: what answers there is not Posthaste's control\n  --url names control; npm start prints where it is\n",
    ]);
  });
});

describe("an error", () => {
  it.each([
    ["a wrong token", 401, 4, /^posthaste: control does not take this token\n {2}control's own is/],
    ["input that control refuses", 400, 2, /^posthaste: words of control\n$/],
    ["something that is not there", 404, 3, /^posthaste: words of control\n$/],
    ["a state that does not allow it", 409, 3, /^posthaste: words of control\n$/],
    ["brokers that take no writes", 503, 5, /^posthaste: words of control\n$/],
    ["a failure of control", 500, 1, /^posthaste: words of control\n$/],
  ])("for %s is one line, and its own code", async (_, status, expected, stderr) => {
    command.control.script("GET /v1/sources/src_1", { detail: "words of control" }, status);
    const result = await posthaste(["sources", "get", "src_1"]);
    expect([result.code, result.stdout]).toEqual([expected, ""]);
    expect(result.stderr).toMatch(stderr);
  });

  it("is 5 when nothing listens, with what to do", async () => {
    const gone = await startFakeControl();
    await gone.close();
    const { code, stderr } = await runCommand(["doctor", "--url", gone.url]);
    expect(code).toBe(5);
    expect(stderr).toMatch(/cannot be reached: .*ECONNREFUSED.*\n {2}is control running\? npm start brings it up/);
  });

  it("is 5 when no answer comes within --timeout", async () => {
    command.control.scriptRequest("GET /readyz", () => ({ fault: "hang" }));
    const { code, stderr } = await posthaste(["doctor", "--timeout", "100ms"]);
    expect([code, stderr]).toEqual([
      5,
      `posthaste: ${command.control.url} did not answer within 100 ms\n  give it longer with --timeout 60s\n`,
    ]);
  });

  it("is 0 for what may take longer than other calls, and does", async () => {
    command.control.scriptRequest("DELETE /v1/audiences/aud_1", () => ({ status: 204, delayMs: 600 }));
    command.control.scriptRequest("DELETE /v1/sources/src_1", () => ({ status: 204, delayMs: 600 }));
    const audience = await posthaste(["audiences", "remove", "aud_1", "--yes", "--timeout", "200ms"]);
    expect([audience.code, audience.stderr]).toEqual([0, expect.stringContaining("removed audience aud_1\n")]);
    expect((await posthaste(["sources", "remove", "src_1", "--yes", "--timeout", "200ms"])).code).toBe(5);
  });

  it("is 1 when something else than control answers", async () => {
    command.control.script("GET /v1/sources/src_1", "hello");
    const { code, stderr } = await posthaste(["sources", "get", "src_1"]);
    expect([code, stderr]).toEqual([
      1,
      `posthaste: ${command.control.url} does not answer as Posthaste's control API does\n`,
    ]);
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
    const named = await runCommand(["doctor", "--url", "http://user:hunter2@127.0.0.1:9/"]);
    expect([named.code, named.stderr]).toEqual([2, "posthaste: --url: a URL may not hold a user name or password\n"]);
    const { code, stderr } = await runCommand(["doctor", "--url", "control"]);
    expect([code, stderr]).toEqual([2, "posthaste: --url: expected control's URL, such as http://127.0.0.1:8090\n"]);
  });

  it("is 130 when it is interrupted", async () => {
    command.control.scriptRequest("GET /readyz", () => ({ fault: "hang" }));
    const { code } = await posthaste(["doctor"], {
      during: async (pid) => {
        await eventually(() => expect(command.control.requests).toHaveLength(1));
        process.kill(pid, "SIGINT");
      },
    });
    expect(code).toBe(130);
  });
});

describe("the token", () => {
  beforeEach(() => command.control.script("GET /v1/sources/src_1", SITE));
  const sent = () => command.control.requests.at(-1)?.headers.authorization;

  it("comes from a file before the environment", async () => {
    await writeFile(join(command.dir, "token"), "from-file\n");
    await posthaste(["sources", "get", "src_1", "--token-file", "token"]);
    expect(sent()).toBe("Bearer from-file");
  });

  it("and the URL come from the local command's data folder when nothing else is named", async () => {
    await writeFile(join(command.dir, "admin-token"), "from-folder\n");
    await writeFile(join(command.dir, "stack.json"), JSON.stringify({ control: command.control.url }));
    const env = { POSTHASTE_DATA_DIR: command.dir };
    expect((await runCommand(["sources", "get", "src_1"], { env })).code).toBe(0);
    expect(sent()).toBe("Bearer from-folder");
  });

  it("of the data folder goes to no other control than that folder's", async () => {
    await writeFile(join(command.dir, "admin-token"), "from-folder\n");
    await writeFile(join(command.dir, "stack.json"), JSON.stringify({ control: "http://127.0.0.1:9" }));
    const env = { POSTHASTE_DATA_DIR: command.dir };
    const { code, stderr } = await runCommand(["sources", "get", "src_1", "--url", command.control.url], { env });
    expect(code).toBe(4);
    expect(stderr).toBe(
      `posthaste: there is no token for ${command.control.url}\n` +
        "  leave out --url for the control of npm start at http://127.0.0.1:9; else set POSTHASTE_ADMIN_TOKEN, name a file that holds it with --token-file, " +
        "or set POSTHASTE_DATA_DIR to the folder of npm start\n",
    );
    expect(command.control.requests).toHaveLength(0);
  });
});
