import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { APP, SITE, useCommand } from "./harness.ts";

const command = useCommand();
const { posthaste, lastBody } = command;

describe("sources", () => {
  it("are made, changed, and given a new write key", async () => {
    command.control.script("POST /v1/sources", SITE, 201);
    command.control.script("PATCH /v1/sources/src_1", SITE);
    command.control.script("POST /v1/sources/src_1/write-key", SITE);
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
    expect(command.control.requests).toHaveLength(0);
  });
});

describe("removing", () => {
  it.each([
    [["destinations", "remove", "dst_1"], "Remove destination dst_1?"],
    [["destinations", "remove", "dst_1", "dst_2"], "Remove 2 destinations?"],
    [["sources", "remove", "src_1"], "Remove source src_1?"],
    [["audiences", "remove", "aud_1"], "Remove audience aud_1?"],
    [["tokens", "revoke", "tok_1"], "Revoke token tok_1?"],
    [["secret", "retire", "dst_1"], "Forget the old secret of destination dst_1?"],
    [["deletions", "create", "--user-id", "user-7"], "Tell receivers to delete 1 user?"],
  ])("needs --yes without a terminal: %j", async (words, question) => {
    const { code, stderr } = await posthaste(words);
    const reason = "there is no terminal to answer this on\n  add --yes to go on\n";
    expect([code, stderr]).toEqual([2, `posthaste: ${question} It cannot be undone. ${reason}`]);
    expect(command.control.requests).toHaveLength(0);
  });

  it("one or many goes on with --yes", async () => {
    command.control.script("DELETE /v1/sources/src_1", undefined, 204);
    expect(await posthaste(["sources", "remove", "src_1", "--yes"])).toEqual({
      code: 0,
      stdout: "",
      stderr: expect.stringContaining("removed source src_1\n"),
    });
    command.control.script("DELETE /v1/destinations/dst_1", undefined, 204);
    command.control.script("DELETE /v1/destinations/dst_2", undefined, 204);
    expect((await posthaste(["destinations", "remove", "dst_1", "dst_2", "--yes", "--quiet"])).stderr).toBe("");
  });

  it("many of which some are not there ends with 6, none with 3", async () => {
    command.control.script("DELETE /v1/sources/src_1", undefined, 204);
    const partly = await posthaste(["sources", "remove", "src_1", "src_gone", "--yes"]);
    expect([partly.code, partly.stderr]).toEqual([6, "removed source src_1\nthere is no /v1/sources/src_gone\n"]);
    expect((await posthaste(["sources", "remove", "src_gone", "src_gone2", "--yes"])).code).toBe(3);
    expect((await posthaste(["sources", "remove", "src_gone", "--yes"])).code).toBe(3);
  });

  it("only shows what it would do under --dry-run", async () => {
    command.control.script("GET /v1/sources/src_2", APP);
    const { code, stdout, stderr } = await posthaste(["sources", "remove", "src_2", "--dry-run"]);
    expect([code, stdout, stderr]).toEqual([0, "src_2\tApp\n", "would remove source src_2\n"]);
    expect(command.control.requests.map(({ method }) => method)).toEqual(["GET"]);
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
    command.control.script("POST /v1/destinations", destination, 201);
    await writeFile(join(command.dir, "secret"), "s3cret\n");
    const { code } = await posthaste([
      "destinations",
      "create",
      ...["--name", "Billing", "--source-ids", "src_1,src_2", "--urls", "https://a.example/?x=1,2"],
      ...["--urls", "https://b.example/", "--settle", "each", "--rate-limit-per-second", "2.5"],
      ...["--standard-webhooks", "--response-log", "off", "--payload", "full", "--shared-secret-file", "secret"],
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
        responseLog: "off",
        payload: "full",
        sharedSecret: "s3cret",
      },
    });
  });

  it("take the API's settings from a file or standard input, other options going over them", async () => {
    command.control.script("POST /v1/destinations", destination, 201);
    const settings = { settle: "any", urls: [{ url: "https://a.example/", headers: { "X-Team": "a" } }] };
    const args = ["destinations", "create", "--name", "B", "--settle", "each", "--settings-file", "-"];
    expect((await posthaste(args, { stdin: JSON.stringify(settings) })).code).toBe(0);
    expect(lastBody()).toMatchObject({ settings: { ...settings, settle: "each" } });
    const broken = await posthaste(args, { stdin: '{"sharedSecret": "hunter2"' });
    expect(broken.code).toBe(2);
    expect(broken.stderr).toBe("posthaste: --settings-file: expected a JSON object, as the API's settings\n");
  });

  it("keep the headers of a URL that stays when their URLs are changed", async () => {
    command.control.script("GET /v1/destinations/dst_1", destination);
    command.control.script("PATCH /v1/destinations/dst_1", destination);
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
    command.control.script("GET /v1/destinations", { data: [destination], nextCursor: null });
    expect((await posthaste(["destinations", "list"])).stdout).toBe(
      "dst_1\tBilling\ttrue\tsrc_1,src_2\thttps://a.example/\tactive\n",
    );
  });

  it("have their secret rotated in stages", async () => {
    for (const step of ["next", "switch", "undo", "retire"]) {
      command.control.script(`POST /v1/destinations/dst_1/secret/${step}`, destination);
      const options = { next: ["--shared-secret-file", "-"], retire: ["--yes"] }[step] ?? [];
      expect((await posthaste(["secret", step, "dst_1", ...options], { stdin: "second\n" })).code).toBe(0);
    }
    expect(command.control.requests.map(({ path, body }) => [path.split("/").at(-1), body.toString()])).toEqual([
      ["next", '{"sharedSecret":"second"}'],
      ["switch", ""],
      ["undo", ""],
      ["retire", ""],
    ]);
  });
});

describe("a switch of the secret that control refuses", () => {
  const switchRefused = async (secretStage: string) => {
    command.control.script("POST /v1/destinations/dst_1/secret/switch", { detail: "dst_1: not now" }, 409);
    command.control.script("GET /v1/destinations/dst_1", { id: "dst_1", secretStage });
    return posthaste(["secret", "switch", "dst_1"]);
  };

  it.each([
    ["active", "  posthaste secret next dst_1 --shared-secret-file FILE comes first: it names the next secret\n"],
    ["none", "  posthaste destinations update dst_1 --shared-secret-file FILE comes first: it sets a secret\n"],
    ["next", ""],
  ])("names the step that comes first where the stage is %s", async (stage, hint) => {
    expect(await switchRefused(stage)).toEqual({ code: 3, stdout: "", stderr: `posthaste: dst_1: not now\n${hint}` });
  });

  it("is told so of a test that is to be signed by it, too", async () => {
    command.control.script("POST /v1/destinations/dst_1/test", { detail: "dst_1 has no next secret" }, 409);
    command.control.script("GET /v1/destinations/dst_1", { id: "dst_1", secretStage: "active" });
    const hint = "  posthaste secret next dst_1 --shared-secret-file FILE comes first: it names the next secret\n";
    expect(await posthaste(["send", "dst_1", "--sign-with", "next"])).toEqual({
      ...{ code: 3, stdout: "", stderr: `posthaste: dst_1 has no next secret\n${hint}` },
    });
    expect((await posthaste(["send", "dst_1"])).stderr).toBe("posthaste: dst_1 has no next secret\n");
  });

  it("send takes settings that nobody saved, of a destination or of none, and signs by their secret", async () => {
    const settings = { urls: [{ url: "https://a.example/" }], sharedSecret: "***" };
    const sentBody = () => JSON.parse(String(command.control.requests.at(-1)?.body));
    const path = join(command.dir, "settings.json");
    await writeFile(path, JSON.stringify(settings));
    const url = { url: "https://a.example/", outcome: "delivered" };
    command.control.script("POST /v1/destinations/test", { messageId: "m", urls: [url] });
    expect((await posthaste(["send", "--settings-file", path])).code).toBe(0);
    expect(sentBody()).toEqual({ settings, type: "track" });
    await posthaste(["send", "dst_1", "--settings-file", path, "--type", "page"]);
    expect(sentBody()).toEqual({ settings, type: "page", destinationId: "dst_1" });
    const asked = command.control.requests.length;
    const refused = [["send"], ["send", "dst_1", "--settings-file", path, "--sign-with", "next"]];
    for (const words of refused) expect((await posthaste(words)).code).toBe(2);
    expect(command.control.requests).toHaveLength(asked);
  });

  it("stays what it was where the destination cannot be read", async () => {
    expect(await posthaste(["secret", "switch", "dst_gone"])).toEqual({
      code: 3,
      stdout: "",
      stderr: "posthaste: there is no /v1/destinations/dst_gone/secret/switch\n",
    });
  });
});

describe("a test event", () => {
  it.each([
    ["every URL", ["delivered", "delivered"], 0],
    ["one URL of two", ["delivered", "retryable"], 6],
    ["no URL", ["retryable", "permanent"], 3],
  ])("that %s takes ends with the code for it", async (_, outcomes, expected) => {
    const urls = outcomes.map((outcome, n) => ({ url: `https://${n}.example/`, outcome, status: 200, durationMs: 5 }));
    command.control.script("POST /v1/destinations/dst_1/test", { messageId: "test_1", type: "identify", urls });
    const { code, stdout, stderr } = await posthaste(["send", "dst_1", "--type", "identify", "--sign-with", "next"]);
    expect([code, stderr]).toEqual([expected, "sent as test_1\n"]);
    expect(stdout.split("\n")[0]).toBe(`https://0.example/\t${outcomes[0]}\t200\t\t5\t`);
    expect(lastBody()).toEqual({ type: "identify", signWith: "next" });
  });
});
