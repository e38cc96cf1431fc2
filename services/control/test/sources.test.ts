import { describe, expect, it } from "vitest";
import { control, useControl } from "./use-control.ts";

useControl();

async function createSource(name = "site"): Promise<{ id: string; writeKey: string; revision: number }> {
  const { status, body } = await control.call("POST", "/v1/sources", { name, kind: "web" });
  expect(status).toBe(201);
  return body;
}

describe("sources", () => {
  it("are made with an id and a write key of their own, and read back as they were made", async () => {
    const { status, body } = await control.call("POST", "/v1/sources", { name: " Web shop ", kind: "web" });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^src_[0-9a-z]{16}$/),
      name: "Web shop",
      kind: "web",
      writeKey: expect.stringMatching(/^[0-9a-z]{32}$/),
      oldWriteKeys: [],
      enabled: true,
      revision: expect.any(Number),
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: body.createdAt,
    });
    const read = await control.call("GET", `/v1/sources/${body.id}`);
    expect(read.status).toBe(200);
    expect(read.body).toEqual(body);
  });

  it("keep what a change leaves out, and rise in revision with each", async () => {
    const source = await createSource();
    const renamed = await control.call("PATCH", `/v1/sources/${source.id}`, { name: "renamed" });
    expect(renamed.body).toMatchObject({ name: "renamed", kind: "web", enabled: true, writeKey: source.writeKey });
    const disabled = await control.call("PATCH", `/v1/sources/${source.id}`, { enabled: false, kind: "server" });
    expect(disabled.body).toMatchObject({ name: "renamed", kind: "server", enabled: false });
    expect(renamed.body.revision).toBeGreaterThan(source.revision);
    expect(disabled.body.revision).toBeGreaterThan(renamed.body.revision);
  });

  it("refuse a change that was made from an older revision", async () => {
    const source = await createSource();
    const { id, revision } = source;
    expect((await control.call("PATCH", `/v1/sources/${id}`, { revision, name: "first" })).status).toBe(200);
    const second = await control.call("PATCH", `/v1/sources/${id}`, { revision, name: "second" });
    expect(second.status).toBe(409);
    expect(second.body.detail).toMatch(/read it again and send the change from there/);
    expect((await control.call("GET", `/v1/sources/${id}`)).body.name).toBe("first");
  });

  it("have two write keys while one is rotated, and one when the old key's time is nought", async () => {
    const source = await createSource();
    const rotated = await control.call("POST", `/v1/sources/${source.id}/write-key`, { oldKeySeconds: 3600 });
    expect(rotated.status).toBe(200);
    expect(rotated.body.writeKey).not.toBe(source.writeKey);
    expect(rotated.body.oldWriteKeys).toEqual([{ writeKey: source.writeKey, expiresAt: expect.any(String) }]);
    const expiresInMs = Date.parse(rotated.body.oldWriteKeys[0].expiresAt) - Date.now();
    expect(expiresInMs).toBeGreaterThan(3_500_000);
    expect(expiresInMs).toBeLessThanOrEqual(3_600_000);

    const again = await control.call("POST", `/v1/sources/${source.id}/write-key`, { oldKeySeconds: 0 });
    expect(again.body.oldWriteKeys.map(({ writeKey }: { writeKey: string }) => writeKey)).toEqual([source.writeKey]);
    expect(again.body.writeKey).not.toBe(rotated.body.writeKey);
  });

  it("keep an old key for a day unless told otherwise, also when the rotation has no body", async () => {
    const source = await createSource();
    const rotated = await control.call("POST", `/v1/sources/${source.id}/write-key`);
    expect(rotated.status).toBe(200);
    const hours = (Date.parse(rotated.body.oldWriteKeys[0].expiresAt) - Date.now()) / 3_600_000;
    expect(hours).toBeCloseTo(24, 1);
  });

  it("are gone after they are removed", async () => {
    const { id } = await createSource();
    const removed = await control.call("DELETE", `/v1/sources/${id}`);
    expect(removed.status).toBe(204);
    expect(removed.text).toBe("");
    for (const [method, path] of [
      ["GET", `/v1/sources/${id}`],
      ["PATCH", `/v1/sources/${id}`],
      ["DELETE", `/v1/sources/${id}`],
      ["POST", `/v1/sources/${id}/write-key`],
    ] as const) {
      const answer = await control.call(method, path, method === "PATCH" ? { name: "x" } : undefined);
      expect([method, answer.status, answer.body.detail]).toEqual([method, 404, `there is no source ${id}`]);
    }
  });

  it("are listed oldest first, each once, in pages of the size asked for", async () => {
    for (let made = 0; made < 5; made += 1) await createSource(`page ${made}`);
    const all = (await control.call("GET", "/v1/sources?limit=200")).body;
    expect(all.nextCursor).toBeNull();
    const ids: string[] = all.data.map(({ id }: { id: string }) => id);
    const paged: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const query: string = cursor === "" ? "?limit=2" : `?limit=2&cursor=${cursor}`;
      const page: { data: { id: string }[]; nextCursor: string | null } = (
        await control.call("GET", `/v1/sources${query}`)
      ).body;
      expect(page.data.length).toBeLessThanOrEqual(2);
      paged.push(...page.data.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    expect(paged).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
    const times = all.data.map(({ createdAt }: { createdAt: string }) => createdAt);
    expect(times).toEqual([...times].sort());
  });

  it.each([
    [{ kind: "web" }, /^name: /],
    [{ name: "x", kind: "web", enabled: "yes" }, /^enabled: expected true or false$/],
    [{ name: "   ", kind: "web" }, /^name: a name is needed$/],
    [{ name: "x".repeat(201), kind: "web" }, /^name: a name has at most 200 characters$/],
    [{ name: "x", kind: "tv" }, /^kind: expected one of web, mobile, server$/],
    [{ name: "x", kind: "web", writeKey: "mine" }, /unknown field "writeKey"; expected name, kind, enabled/],
    [[], /^expected an object$/],
  ])("refuse to be made from %j", async (input, detail) => {
    const { status, body, headers } = await control.call("POST", "/v1/sources", input);
    expect(status).toBe(400);
    expect(headers.get("content-type")).toMatch(/^application\/problem\+json/);
    expect(body.detail).toMatch(detail);
    expect(body.errors.length).toBeGreaterThan(0);
  });

  it.each([
    ["?limit=0", "limit: expected a whole number from 1 to 200"],
    ["?limit=many", "limit: expected a whole number from 1 to 200"],
    ["?cursor=zzz", expect.stringMatching(/^cursor: expected the nextCursor of this list's page before;/)],
    ["?page=2", 'unknown field "page"; expected limit, cursor'],
  ])("refuse to be listed with %s", async (query, detail) => {
    const { status, body } = await control.call("GET", `/v1/sources${query}`);
    expect([status, body.detail]).toEqual([400, detail]);
  });
});
