/**
 * The command line against a real control. The first commands of each kind run like a person's, each in a process of
 * its own. The kinds are: a query, a change, a read of input, a refusal, a watch of an operation, a download.
 * One process runs all others.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { attemptAt, createLogWriter, deadLetterAt, momentOf } from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { schemaRegistryUrl } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { type LineProgram, startLineProgram } from "@posthaste/testkit/line-program";
import { startReceiver } from "@posthaste/testkit/receiver";
import { type RunResult, runNode } from "@posthaste/testkit/run-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADMIN_TOKEN, startTestControl, type TestControl } from "./control.ts";

const RUNBOOKS = fileURLToPath(new URL("../../../docs/runbooks/", import.meta.url));
const BINARY = fileURLToPath(new URL("../../../packages/cli/bin/posthaste.mjs", import.meta.url));
const COMMANDS = fileURLToPath(new URL("../../../packages/cli/test/commands-process.ts", import.meta.url));

let commands: LineProgram;
let topics: TestTopics;
let control: TestControl;

beforeAll(async () => {
  commands = startLineProgram([COMMANDS], {});
  topics = await createTestTopics("control");
  // The doctor looks for the schemas of its topics, which it registers itself then.
  control = await startTestControl(topics, { env: { SCHEMA_REGISTRY_URL: schemaRegistryUrl() } });
});

afterAll(async () => {
  await commands.close();
  await control.stop();
  await topics.remove();
});

const env = { POSTHASTE_ADMIN_TOKEN: ADMIN_TOKEN };

/** Runs the command against this control and answers its output, with `--json` documents parsed. */
function posthaste(args: readonly string[], stdin = ""): Promise<RunResult> {
  return commands.ask({ args: [...args, "--url", control.url], stdin, env }) as Promise<RunResult>;
}

/** The same as a process of its own. */
function posthasteItself(args: readonly string[], stdin = ""): Promise<RunResult> {
  return runNode([BINARY, ...args, "--url", control.url], { env: { PATH: process.env.PATH, ...env }, stdin });
}

/** The commands of the runbooks, each once. */
async function runbookCommands(): Promise<readonly string[]> {
  const pages = await Promise.all((await readdir(RUNBOOKS)).map((file) => readFile(join(RUNBOOKS, file), "utf8")));
  return [...new Set(pages.flatMap((page) => page.match(/^posthaste .*$/gm) ?? []))];
}

describe("the runbooks", () => {
  it("name commands that run", async () => {
    const all = await runbookCommands();
    expect(all.length).toBeGreaterThan(5);
    for (const command of all) {
      const { code, stderr } = await posthaste(command.split(" ").slice(1));
      // 3 is an answer too: something is wrong, or nothing matches.
      expect([0, 3], `${command}: ${stderr}`).toContain(code);
    }
  });
});

describe("the command line", () => {
  it("does with a real control what its help says, from the first source to the last removal", async () => {
    const receiver = await startReceiver();
    const source = JSON.parse(
      (await posthasteItself(["sources", "create", "--name", "site", "--kind", "web", "--json"])).stdout,
    );
    expect((await posthasteItself(["sources", "list"])).stdout).toBe(
      `${source.id}\tsite\tweb\ttrue\t${source.writeKey}\t${source.createdAt}\n`,
    );

    const url = `${receiver.url}/hook`;
    const create = ["destinations", "create", "--name", "hook", "--source-ids", source.id, "--urls", url, "--json"];
    const made = await posthasteItself([...create, "--shared-secret-file", "-"], "first-shared-secret\n");
    const destination = JSON.parse(made.stdout);
    expect(destination.settings.sharedSecret).toEqual({ set: true });
    expect(made.stdout + made.stderr).not.toContain("first-shared-secret");

    const sent = await posthaste(["send", destination.id, "--json", "--quiet"]);
    expect([sent.code, sent.stderr]).toEqual([0, ""]);
    expect(JSON.parse(sent.stdout)).toMatchObject({ url, outcome: "delivered", status: 200 });
    expect(receiver.requests).toHaveLength(1);

    expect(
      (await posthaste(["secret", "next", destination.id, "--shared-secret-file", "-"], "second-shared-secret")).code,
    ).toBe(0);
    expect((await posthaste(["send", destination.id, "--sign-with", "next"])).code).toBe(0);
    expect((await posthaste(["secret", "switch", destination.id])).stdout).toContain("secretStage\tswitched\n");
    expect((await posthasteItself(["secret", "switch", destination.id])).code).toBe(3);
    expect((await posthaste(["secret", "retire", destination.id, "--yes"])).stdout).toContain("secretStage\tactive\n");

    const deletion = await posthaste(["deletions", "create", "--user-id", "user-7", "--yes", "--json"]);
    expect(JSON.parse(deletion.stdout)).toEqual({ id: expect.any(String), notifications: 1 });
    expect((await posthaste(["destinations", "update", destination.id, "--no-enabled"])).code).toBe(0);
    expect((await posthaste(["deletions", "create", "--user-id", "user-7", "--yes"])).code).toBe(3);

    expect((await posthaste(["destinations", "remove", destination.id, "--yes"])).code).toBe(0);
    expect((await posthaste(["sources", "remove", source.id, "--yes"])).code).toBe(0);
    expect(await posthaste(["destinations", "list"])).toEqual({ code: 0, stdout: "", stderr: "" });
    // All is well, but that one broker keeps one copy and no process routes or delivers.
    await eventually(async () =>
      expect(await posthaste(["doctor"])).toMatchObject({
        code: 3,
        stderr: "look at: replication (warning), groups (wrong), settings (unknown)\n",
      }),
    );
    await receiver.close();
  });

  it("makes a token and a link that work, tells who changed what by it, and revokes it", async () => {
    const create = ["tokens", "create", "--name", "ci", "--scopes", "read,write", "--json"];
    const { id, token } = JSON.parse((await posthaste(create)).stdout);
    const by = { authorization: `Bearer ${token}` };
    const source = (await control.call("POST", "/v1/sources", { name: "By ci", kind: "web" }, by)).body;
    const reported = await posthaste(["audit", "--actor", "ci", "--json"]);
    expect(JSON.parse(reported.stdout)).toMatchObject({ operation: "createSource", target: source.id, way: "api" });
    await posthaste(["sources", "remove", source.id, "--yes"]);
    const [removed] = (await posthaste(["audit", "--target", source.id])).stdout.split("\n");
    expect(removed).toMatch(new RegExp(`\tadmin\tcli\tremoveSource\t${source.id}\tname: By ci -> -; `));

    const { stdout } = await posthaste(["open"]);
    const code = /#sign-in=(\w+)\n$/.exec(stdout)?.[1];
    expect((await control.call("POST", "/v1/session", { code })).status).toBe(201);

    expect((await posthaste(["tokens", "list"])).stdout).toContain(`${id}\tci\t`);
    expect((await posthaste(["tokens", "revoke", id, "--yes"])).code).toBe(0);
    expect((await control.call("GET", "/v1/sources", undefined, by)).status).toBe(401);
    expect((await posthaste(["audit", "--operation", "no-such"])).code).toBe(3);
  });

  it("hands over a membership as it is read, and values of a computed trait", async () => {
    const source = JSON.parse(
      (await posthaste(["sources", "create", "--name", "crm", "--kind", "server", "--json"])).stdout,
    );
    const create = ["audiences", "create", "--name", "Big spenders", "--source-id", source.id, "--json"];
    const { id, trait } = JSON.parse((await posthaste(create)).stdout);
    expect(trait).toBe("big_spenders");
    expect((await posthaste(create)).code).toBe(3);
    const lines = Array.from({ length: 2000 }, (_, index) => `"user-${index}"\n`).join("");
    const synced = await posthasteItself(["audiences", "sync", id, "-", "--json", "--quiet"], lines);
    expect([synced.code, synced.stderr]).toEqual([0, ""]);
    expect(JSON.parse(synced.stdout)).toEqual({ added: 2000, removed: 0, unchanged: 0 });
    const changed = await posthaste(["audiences", "members", id, "--add", "a,user-1", "--remove", "user-2"]);
    expect(changed.stdout).toBe("added\t1\nremoved\t1\nunchanged\t1\n");
    expect((await posthaste(["audiences", "members", id, "--user-id", "a"])).code).toBe(0);
    expect((await posthaste(["audiences", "members", id, "--user-id", "user-2"])).code).toBe(3);
    expect((await posthaste(["audiences", "members", id])).code).toBe(2);
    expect((await posthaste(["audiences", "get", id, "--json"])).stdout).toContain('"size": 2000');
    const bad = await posthaste(["audiences", "sync", id, "-", "--quiet"], '"a"\nnot JSON\n');
    expect([bad.code, bad.stderr]).toEqual([
      2,
      'posthaste: line 2: this is not JSON: write "user-7", with the quotes, or an object\n',
    ]);
    const missing = await posthaste(["audiences", "sync", id, "/nonexistent/members.ndjson"]);
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringMatching(/members.ndjson cannot be read: ENOENT/)]);

    // A slow one says how far it is.
    const put = ["traits", "put", "lifetime value", "-", "--source-id", source.id, "--quiet"];
    expect(await posthaste(put, '{"userId": "a", "value": 1}\n')).toEqual({
      ...{ code: 0, stderr: "" },
      stdout: "changed\t1\nunchanged\t0\n",
    });
    expect((await posthaste(["traits", "list"])).stdout).toMatch(/^lifetime value\tlifetime_value\t/);
    expect((await posthaste(["audiences", "remove", id, "--yes"])).code).toBe(0);
    expect((await posthaste(["audiences", "list"])).stdout).toBe("");
  });

  it("passes on why control refuses", async () => {
    const refused = await posthasteItself([
      "destinations",
      "create",
      "--name",
      "x",
      "--urls",
      "https://u:p@a.example/",
    ]);
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([
      2,
      "",
      "posthaste: settings.urls[0].url: https://***@a.example/: a URL may not hold a user name or password: use a header\n",
    ]);
  });

  it("shows the delivery log and the dead letters", async () => {
    const writer = await createLogWriter(topics);
    await writer.attempts([attemptAt(1), attemptAt(2, { outcome: "permanent" })]);
    await writer.deadLetters([deadLetterAt(2), deadLetterAt(3)]);
    await eventually(async () => {
      const { code, stdout } = await posthaste(["deliveries", "--outcome", "permanent", "--since", "10m"]);
      const row = [
        momentOf(2),
        "dst_1",
        "message-2",
        "track",
        "1",
        "permanent",
        "200 in 12.3 ms at https://a.example/hook",
      ];
      expect([code, stdout]).toEqual([0, `${row.join("\t")}\n`]);
      const counted = await posthaste(["dead-letters", "count"]);
      expect([counted.code, counted.stdout]).toEqual([0, "dst_1\twindow_expired\t2\n"]);
    });
    const listed = await posthaste(["dead-letters", "list", "--limit", "1", "--json"]);
    expect(JSON.parse(listed.stdout)).toMatchObject({ time: momentOf(3), reason: "window_expired", place: "0:1" });
    expect((await posthaste(["dead-letters", "groups"])).stdout).toMatch(/^2\t0\tdst_1\twindow_expired\t503\t/);
    expect((await posthaste(["dead-letters", "show", "0:1"])).stdout).toContain('body\t{"n":3}\n');
  });

  it("replays dead letters by a plan, follows that, exports and purges them", async () => {
    const settings = { urls: [{ url: "https://a.example/hook" }] };
    const input = { type: "Webhooks", name: "again", sourceIds: [], enabled: true, settings };
    const destinationId = (await control.call("POST", "/v1/destinations", input)).body.id;
    const writer = await createLogWriter(topics);
    await writer.deadLetters([4, 5, 6].map((n) => deadLetterAt(n, { destinationId })));
    const of = ["--destination-id", destinationId];
    const dry = await posthaste(["dead-letters", "replay", ...of, "--dry-run", "--json", "--quiet"]);
    const { plan, matched } = JSON.parse(dry.stdout);
    expect([dry.code, matched]).toEqual([0, 3]);
    const replayed = await posthasteItself(["dead-letters", "replay", "--plan", plan, "--yes", "--json"]);
    // A long operation prints its progress before its result.
    expect([replayed.code, replayed.stderr]).toEqual([
      0,
      expect.stringMatching(/(^|\n)sent 3 of 3 again: 3 not known yet\n/),
    ]);
    expect(JSON.parse(replayed.stdout)).toMatchObject({ id: plan, state: "done", replayed: 3 });
    const again = await posthaste(["dead-letters", "replay", ...of, "--yes"]);
    const nothing = expect.stringMatching(/(^|\n)left out: 3 replayed before\nnothing matches\n$/);
    expect([again.code, again.stderr]).toEqual([3, nothing]);
    expect((await posthaste(["replays", "list"])).stdout).toMatch(`${plan}\tdone\t3\t3\t`);
    expect((await posthaste(["replays", "watch", plan])).code).toBe(0);
    expect((await posthaste(["replays", "cancel", plan])).code).toBe(3);

    const slow = await posthaste([
      ...["dead-letters", "replay", ...of, "--again", "--rate-per-second", "0.01", "--no-wait", "--yes", "--json"],
    ]);
    const { id } = JSON.parse(slow.stdout);
    expect((await posthaste(["replays", "pause", id])).stdout).toContain("state\tpaused\n");
    expect((await posthaste(["replays", "resume", id])).code).toBe(0);
    const cancelled = await posthaste(["replays", "cancel", id]);
    expect([cancelled.code, cancelled.stdout]).toEqual([0, expect.stringContaining("state\tcancelled\n")]);

    const exported = await posthasteItself(["dead-letters", "export", ...of]);
    expect(exported.stdout.split("\n").map((line) => JSON.parse(line || "{}").messageId)).toEqual([
      ...["message-4", "message-5", "message-6", undefined],
    ]);
    const counted = await posthaste(["dead-letters", "purge", ...of, "--until", momentOf(6), "--dry-run", "--json"]);
    const purge = ["dead-letters", "purge", "--plan", JSON.parse(counted.stdout).plan];
    const shown = await posthaste([...purge, "--dry-run"]);
    expect([shown.code, shown.stderr]).toEqual([0, expect.stringContaining("would purge 2 dead letters\n")]);
    const purged = await posthaste([...purge, "--yes"]);
    expect([purged.code, purged.stderr]).toEqual([
      0,
      expect.stringMatching(/(^|\n)purged 2 dead letters; the topic keeps the bytes/),
    ]);
    const repeated = await posthaste([...purge, "--yes"]);
    expect([repeated.code, repeated.stderr]).toEqual([3, expect.stringContaining("its dead letters are purged")]);
    expect((await posthaste(["dead-letters", "export", ...of])).stdout.trimEnd().split("\n")).toHaveLength(1);
  });
});
