import { describe, expect, it } from "vitest";
import { TOKEN } from "./fake-control.ts";
import { APP, SITE, useCommand } from "./harness.ts";

const command = useCommand();
const { posthaste } = command;

describe("standard output", () => {
  it("has a list as tab-separated columns, whole, one line each, when it is no terminal", async () => {
    command.control.script("GET /v1/sources", { data: [SITE, APP], nextCursor: null });
    const { code, stdout, stderr } = await posthaste(["sources", "list"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toBe(
      "src_1\tWeb shop [31m\tweb\ttrue\twk1\t2026-11-21T10:00:00.000Z\n" +
        "src_2\tApp\tmobile\ttrue\twk2\t2026-11-21T10:00:00.000Z\n",
    );
    expect(command.control.requests[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
  });

  it("has one object a line for a list under --json, with the API's fields, and nothing else", async () => {
    command.control.script("GET /v1/sources", { data: [SITE, APP], nextCursor: null });
    const { stdout, stderr } = await posthaste(["sources", "list", "--json"]);
    expect(stderr).toBe("");
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([SITE, APP]);
  });

  it("has of each object of a list, and of a document, what a jq program makes of it", async () => {
    command.control.script("GET /v1/sources", { data: [SITE, APP], nextCursor: null });
    const jq = (...words: string[]) => posthaste(["sources", ...words]);
    expect((await jq("list", "--jq", 'select(.kind == "mobile") | .name')).stdout).toBe("App\n");
    command.control.script("GET /v1/sources/src_1", SITE);
    expect((await jq("get", "src_1", "--jq", "{id, revision}")).stdout).toBe('{"id":"src_1","revision":7}\n');
    command.control.reset();
    const wrong = await jq("list", "--jq", ".a[");
    expect([wrong.code, wrong.stderr.slice(0, 16), command.control.requests]).toEqual([2, "posthaste: --jq:", []]);
  });

  it("is empty for an empty list", async () => {
    command.control.script("GET /v1/sources", { data: [], nextCursor: null });
    expect(await posthaste(["sources", "list"])).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(await posthaste(["--json", "sources", "list"])).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  it("has one document as a field a line, and as one JSON document under --json", async () => {
    command.control.script("GET /v1/sources/src_1", SITE);
    const plain = await posthaste(["sources", "get", "src_1"]);
    expect(plain.stdout).toContain("id\tsrc_1\nname\tWeb shop [31m\n");
    const json = await posthaste(["sources", "get", "src_1", "--json"]);
    expect(JSON.parse(json.stdout)).toEqual(SITE);
  });

  it("goes through all pages of a list, or as far as --limit", async () => {
    command.control.scriptRequest("GET /v1/sources", ({ target }) => {
      const query = new URLSearchParams(target.split("?")[1]);
      const page =
        query.get("cursor") === "next" ? { data: [APP], nextCursor: null } : { data: [SITE], nextCursor: "next" };
      return { body: JSON.stringify(page) };
    });
    expect((await posthaste(["sources", "list"])).stdout.split("\n")).toHaveLength(3);
    expect((await posthaste(["sources", "list", "--limit", "1"])).stdout.split("\n")).toHaveLength(2);
    expect(command.control.requests.at(-1)?.target).toBe("/v1/sources?limit=1");
  });
});
