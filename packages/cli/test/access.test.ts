/** Tokens, sign-in links and the audit, from the command line. */
import { describe, expect, it } from "vitest";
import { useCommand } from "./harness.ts";

const command = useCommand();

const ENTRY = {
  id: 7,
  time: "2026-11-22T10:00:00.000Z",
  actor: "dana",
  way: "console",
  operation: "changeSource",
  target: "src_1",
  changes: [
    { field: "name", from: "Web", to: "Shop" },
    { field: "writeKeys", from: null, to: "changed" },
  ],
  requestId: "req_1",
};

describe("tokens", () => {
  it("are made for what was named, and printed once with how to take them back", async () => {
    command.control.script("POST /v1/tokens", { id: "tok_1", token: "pht_x", link: null }, 201);
    const { code, stdout, stderr } = await command.posthaste([
      "tokens",
      "create",
      "--name",
      "ci",
      "--scopes",
      "read,replay",
    ]);
    expect(command.lastBody()).toEqual({ name: "ci", scopes: ["read", "replay"], link: false });
    expect([code, stdout]).toEqual([0, expect.stringContaining("token\tpht_x\n")]);
    expect(stderr).toContain("posthaste tokens revoke tok_1");
    await command.posthaste(["tokens", "create", "--name", "dana", "--scopes", "read", "--link"]);
    expect(command.lastBody()).toEqual({ name: "dana", scopes: ["read"], link: true });
  });

  it("are revoked; one that is not there ends with 3, one that may not be with 4, too many with 5", async () => {
    command.control.script("DELETE /v1/tokens/tok_1", undefined, 204);
    expect((await command.posthaste(["tokens", "revoke", "tok_1", "--yes"])).code).toBe(0);
    expect((await command.posthaste(["tokens", "revoke", "tok_2", "--yes"])).code).toBe(3);
    for (const [status, expected] of [
      [403, 4],
      [429, 5],
    ] as const) {
      command.control.script("GET /v1/tokens", { status, detail: "no" }, status);
      const { code, stderr } = await command.posthaste(["tokens", "list"]);
      expect([code, stderr]).toEqual([expected, "posthaste: no\n"]);
    }
  });

  it("are asked for under the command's own name, so that the audit tells it", async () => {
    command.control.script("GET /v1/tokens", { data: [], nextCursor: null });
    await command.posthaste(["tokens", "list"]);
    expect(command.control.requests.at(-1)?.headers["user-agent"]).toMatch(/^posthaste-cli\/\d/);
  });
});

it("open prints the link where there is no terminal, with the page in its path", async () => {
  command.control.script(
    "POST /v1/session/link",
    { link: "http://127.0.0.1:8090/#sign-in=abc", expiresAt: "then" },
    201,
  );
  expect((await command.posthaste(["open"])).stdout).toBe("http://127.0.0.1:8090/#sign-in=abc\n");
  const web = async (...words: string[]) => (await command.posthaste([...words, "--web"])).stdout;
  expect(await web("destinations", "get", "dst_1")).toBe("http://127.0.0.1:8090/destinations/dst_1#sign-in=abc\n");
  expect(await web("events", "why", "m/1")).toBe("http://127.0.0.1:8090/events/m%2F1#sign-in=abc\n");
  const { stdout } = await command.posthaste(["open", "destinations", "--json"]);
  expect(JSON.parse(stdout)).toEqual({ link: "http://127.0.0.1:8090/destinations#sign-in=abc", expiresAt: "then" });
});

describe("audit", () => {
  it("lists who changed what, by what was named", async () => {
    command.control.script("GET /v1/audit", { data: [ENTRY], nextCursor: null, complete: true });
    const { code, stdout } = await command.posthaste([
      "audit",
      "--actor",
      "dana",
      "--target",
      "src_1",
      "--since",
      "1d",
    ]);
    expect([code, stdout]).toEqual([
      0,
      `${ENTRY.time}\tdana\tconsole\tchangeSource\tsrc_1\tname: Web -> Shop; writeKeys: - -> changed\n`,
    ]);
    expect(command.control.requests.at(-1)?.target).toMatch(/\?actor=dana&target=src_1&since=\d/);
    const byHand = {
      ...{ ...ENTRY, id: null, requestId: null, actor: "unknown", tokenId: null, way: "unknown", operation: "change" },
      changes: [
        { field: "enabled", from: "true", to: "false" },
        { field: "sharedSecret", from: "changed", to: "changed" },
      ],
    };
    command.control.script("GET /v1/audit", { data: [byHand], nextCursor: null, complete: true });
    expect((await command.posthaste(["audit", "--target", "src_1"])).stdout).toBe(
      `${ENTRY.time}\tunknown\tunknown\tchange\tsrc_1\tenabled: true -> false; sharedSecret: changed\n`,
    );
    command.control.script("GET /v1/audit", { data: [], nextCursor: null, complete: true });
    expect((await command.posthaste(["audit"])).code).toBe(3);
  });
});
