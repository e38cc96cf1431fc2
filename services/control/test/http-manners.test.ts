/** Rules for every request, of any operation: its id, the methods of its path, the time of a retry. */
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ADMIN_TOKEN, readOpenApi } from "./control.ts";
import { control, useControl } from "./use-control.ts";

useControl();

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const REQUEST_ID = /^req_[0-9a-z]{16}$/;

/** All bytes that the server writes in answer to these, until it ends the connection. */
async function answerTo(bytes: string): Promise<string> {
  const { hostname, port } = new URL(control.url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  socket.write(bytes);
  return text(socket);
}

describe("a request's id", () => {
  it.each([
    ["an answer", "GET", "/v1/sources", 200],
    ["a refusal of input", "POST", "/v1/sources", 400],
    ["a path that there is not", "GET", "/v1/nothing", 404],
    ["a path that cannot be read", "GET", "/v1/sources/%E0%A4%A", 400],
    ["a method that there is not", "PUT", "/v1/sources", 405],
    ["the description", "GET", "/openapi.json", 200],
    ["the readiness", "GET", "/readyz", 200],
  ])("is in the head of %s, and in a problem's body", async (_, method, path, status) => {
    const answer = await control.call(method, path, method === "POST" ? {} : undefined);
    const requestId = answer.headers.get("x-request-id");
    expect([answer.status, requestId]).toEqual([status, expect.stringMatching(REQUEST_ID)]);
    if (status >= 400) expect(answer.body.requestId).toBe(requestId);
  });

  it("is another for each request, whatever the caller sends", async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const answer = await control.call("GET", "/v1/sources", undefined, { "x-request-id": "mine" });
        return answer.headers.get("x-request-id");
      }),
    );
    expect(new Set(ids).size).toBe(20);
    expect(ids).not.toContain("mine");
  });

  it.each([
    ["bytes that are no request", "hello\r\n\r\n", 400],
    ["a head that is too large", `GET / HTTP/1.1\r\nhost: x\r\nx: ${"y".repeat(20_000)}\r\n\r\n`, 431],
    ["a head of too many lines", `GET / HTTP/1.1\r\nhost: x\r\n${"x: y\r\n".repeat(200)}\r\n`, 431],
  ])("is in the answer to %s", async (_, bytes, status) => {
    const [head = "", body = ""] = (await answerTo(bytes)).split("\r\n\r\n");
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    const problem = JSON.parse(body);
    expect(problem).toMatchObject({ status, requestId: expect.stringMatching(REQUEST_ID) });
    expect(head).toContain(`x-request-id: ${problem.requestId}`);
    expect(head).toContain("content-type: application/problem+json");
  });

  it("is told to who goes on sending a head that is too large, before the connection ends", async () => {
    const { hostname, port } = new URL(control.url);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    socket.pause();
    socket.write(`GET / HTTP/1.1\r\nhost: x\r\nx: ${"y".repeat(17_000)}`);
    for (let chunk = 0; chunk < 20; chunk += 1) {
      await sleep(10);
      socket.write("y".repeat(1000));
    }
    expect(await text(socket)).toMatch(/^HTTP\/1.1 431 /);
  });
});

describe("a method that a path does not have", () => {
  it("is refused with 405 and those that it has, on every path, before a body is looked at", async () => {
    const { paths } = (await readOpenApi(control)).body;
    const open = { "/openapi.json": { get: {} }, "/healthz": { get: {} }, "/readyz": { get: {} } };
    const wrong: unknown[] = [];
    for (const [path, operations] of Object.entries<object>({ ...paths, ...open })) {
      const known = Object.keys(operations).map((method) => method.toUpperCase());
      for (const method of METHODS.filter((each) => !known.includes(each))) {
        const response = await fetch(`${control.url}${path.replaceAll(/\{\w+\}/g, "1")}`, {
          method,
          headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "text/plain" },
          ...(["GET", "HEAD"].includes(method) ? {} : { body: "x" }),
        });
        const allow = response.headers.get("allow")?.split(", ").sort();
        if (response.status !== 405 || JSON.stringify(allow) !== JSON.stringify(known.sort())) {
          wrong.push([method, path, response.status, allow]);
        }
        await response.body?.cancel();
      }
    }
    expect(wrong).toEqual([]);
  });

  it("is not told of without the token", async () => {
    const answer = await control.call("PUT", "/v1/sources", undefined, { authorization: "" });
    expect([answer.status, answer.headers.get("allow")]).toEqual([401, null]);
  });
});

/** They are in control's memory and in no topic. */
const NOT_OF_TOPICS = ["/v1/test-receivers"];

describe("a list", () => {
  it("says up to when it was read, and whether that is all", async () => {
    const document = (await readOpenApi(control)).body;
    const lists = Object.entries<{ get?: { operationId: string } }>(document.paths).flatMap(([path, { get }]) =>
      get !== undefined && /^(list|count|group)/.test(get.operationId) && !NOT_OF_TOPICS.includes(path) ? [path] : [],
    );
    expect(lists.length).toBeGreaterThan(9);
    const { id } = (await control.call("POST", "/v1/sources", { name: "one", kind: "web" })).body;
    const fromMs = Date.now() - 60_000;
    await control.call("POST", "/v1/deletions", { id: "one", userId: "u", sourceIds: [id] });
    for (const path of lists) {
      const ofPath = path.startsWith("/v1/sources/") ? id : "one";
      const { status, body } = await control.call("GET", path.replace("{id}", ofPath));
      expect([path, status, typeof body.complete]).toEqual([path, 200, "boolean"]);
      if (body.complete) expect([path, Date.parse(body.asOf) > fromMs]).toEqual([path, true]);
      expect([path, body.asOf === null || Date.parse(body.asOf) <= Date.now()]).toEqual([path, true]);
    }
  });
});
