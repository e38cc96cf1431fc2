/** Sign-in links and sessions, over two control processes. */
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { topicTexts } from "@posthaste/testbed/topic-texts";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADMIN_TOKEN, startTestControl, type TestControl } from "./control.ts";
import { control, other, topics, useControls } from "./use-control.ts";

let one: TestControl;
let two: TestControl;
/** Every code and token that was made here. */
const secrets: string[] = [ADMIN_TOKEN];

useControls();

beforeAll(() => {
  [one, two] = [control, other];
});

afterAll(async () => {
  const kept = [...(await topicTexts(topics, topics.names.tokens)), ...(await topicTexts(topics, topics.names.audit))];
  expect(kept.length).toBeGreaterThan(20);
  for (const secret of secrets) {
    expect(one.logged() + two.logged()).not.toContain(secret);
    expect(kept.join("\n")).not.toContain(secret);
  }
});

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

interface Reported {
  readonly status: number | undefined;
  readonly cookie: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects and fails on what is not there
  readonly body: any;
}

/** As a browser or a tool asks, with any `Host`. */
async function ask(
  control: TestControl,
  { method = "GET", path = "/v1/session", headers = {}, body }: Asked,
): Promise<Reported> {
  const type = body === undefined ? {} : { "content-type": "application/json" };
  return new Promise((resolve, reject) => {
    const asked = request(`${control.url}${path}`, { method, headers: { ...type, ...headers } }, (response) => {
      text(response).then((reported) => {
        const cookie = response.headers["set-cookie"]?.[0];
        const code = /=(\w+);/.exec(cookie ?? "")?.[1];
        if (code !== undefined) secrets.push(code);
        resolve({ status: response.statusCode, cookie, body: reported === "" ? undefined : JSON.parse(reported) });
      }, reject);
    });
    asked.once("error", reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const open = (control: TestControl, body: unknown, headers = {}) => ask(control, { method: "POST", headers, body });

/** The code of a link for the holder of a token. */
async function makeLink(authorization = `Bearer ${ADMIN_TOKEN}`): Promise<string> {
  const { status, body } = await one.call("POST", "/v1/session/link", undefined, { authorization });
  expect([status, body.link]).toEqual([
    201,
    expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/#sign-in=[0-9a-z]{32}$/),
  ]);
  const code = body.link.split("=")[1];
  secrets.push(code);
  return code;
}

async function makeToken(scopes: readonly string[]) {
  const { body } = await one.call("POST", "/v1/tokens", { name: "dana", scopes });
  secrets.push(body.token);
  return { id: body.id, token: body.token, authorization: `Bearer ${body.token}` };
}

/** The header by which a browser at this control has the session. */
function cookieAt(control: TestControl, { cookie = "" }: Reported): { readonly cookie: string } {
  const code = /=(\w+);/.exec(cookie)?.[1];
  return { cookie: `posthaste-session-${new URL(control.url).port}=${code}` };
}

describe("a sign-in link", () => {
  it("opens one session, also at another process, which acts as the token that it is of", async () => {
    const { id, authorization } = await makeToken(["read"]);
    const code = await makeLink(authorization);
    const opened = await open(two, { code });
    expect(opened.status).toBe(201);
    expect(opened.body).toMatchObject({ name: "dana", tokenId: id, scopes: ["read"] });
    const { port } = new URL(two.url);
    expect(opened.cookie).toMatch(
      new RegExp(`^posthaste-session-${port}=[0-9a-z]{32}; Path=/; HttpOnly; SameSite=Strict; Max-Age=604800$`),
    );
    const headers = cookieAt(two, opened);
    expect((await ask(two, { headers })).body).toEqual(opened.body);
    expect((await ask(two, { path: "/v1/sources", headers })).status).toBe(200);
    const origin = two.url;
    const more = await ask(two, { method: "POST", path: "/v1/sources", headers: { ...headers, origin }, body: {} });
    expect([more.status, more.body.detail]).toEqual([403, "this needs a token with the scope write"]);
    expect((await open(two, { code })).status).toBe(401);
    expect((await open(one, { code })).status).toBe(401);
  });

  it("is taken once when it is opened at two processes at once", async () => {
    for (let round = 0; round < 10; round += 1) {
      const code = await makeLink();
      const opened = await Promise.all([open(one, { code }), open(two, { code })]);
      const statuses = opened.map(({ status }) => status);
      expect(statuses.sort()).toEqual([201, 401]);
      const again = await Promise.all([open(one, { code }), open(two, { code })]);
      expect(again.map(({ status }) => status)).toEqual([401, 401]);
    }
  });

  it("makes a token that has no text of its own", async () => {
    const { status, body } = await one.call("POST", "/v1/tokens", { name: "eve", scopes: ["read"], link: true });
    expect([status, body.token]).toEqual([201, null]);
    const code = body.link.split("=")[1];
    secrets.push(code);
    const listed = async () => {
      const { data } = (await one.call("GET", "/v1/tokens?limit=200")).body;
      const { linkUntil, sessionUsedAt } = data.find(({ id }: { id: string }) => id === body.id);
      return [linkUntil, sessionUsedAt];
    };
    const moment = expect.stringMatching(/^\d{4}-/);
    await eventually(async () => expect(await listed()).toEqual([moment, null]));
    expect((await open(one, { code })).body).toMatchObject({ name: "eve", tokenId: body.id, scopes: ["read"] });
    await eventually(async () => expect(await listed()).toEqual([null, moment]));
  });
});

describe("a session", () => {
  it("ends with its token, everywhere", async () => {
    const { id, token } = await makeToken(["read"]);
    const opened = await open(one, { token });
    expect((await ask(one, { headers: cookieAt(one, opened) })).status).toBe(200);
    await eventually(async () => expect((await ask(two, { headers: cookieAt(two, opened) })).status).toBe(200));
    await one.call("DELETE", `/v1/tokens/${id}`);
    expect((await ask(one, { headers: cookieAt(one, opened) })).status).toBe(401);
    await eventually(async () => expect((await ask(two, { headers: cookieAt(two, opened) })).status).toBe(401));
  });

  it("is ended by who has it, and its cookie taken away", async () => {
    const opened = await open(one, { token: ADMIN_TOKEN });
    const headers = { ...cookieAt(one, opened), origin: one.url };
    const ended = await ask(one, { method: "DELETE", headers });
    expect([ended.status, ended.cookie]).toEqual([204, expect.stringContaining("Max-Age=0")]);
    expect((await ask(one, { headers })).status).toBe(401);
    expect((await one.call("DELETE", "/v1/session")).status).toBe(409);
  });

  it("of the token of the environment ends when that is another", async () => {
    const opened = await open(one, { token: ADMIN_TOKEN });
    const changed = await startTestControl(topics, { env: { POSTHASTE_ADMIN_TOKEN: "another-token-0123456789" } });
    const answer = await ask(changed, { headers: cookieAt(changed, opened) });
    expect([answer.status, answer.body.detail]).toEqual([401, "the session is over: sign in again"]);
    await changed.stop();
  });

  it("is for the console's addresses alone, and changes for its pages alone", async () => {
    const opened = await open(one, { token: ADMIN_TOKEN });
    const headers = cookieAt(one, opened);
    const { port } = new URL(one.url);
    const statusWith = async (method: string, more: Record<string, string>) =>
      (
        await ask(one, {
          method,
          path: "/v1/sources",
          headers: { ...headers, ...more },
          body: method === "POST" ? {} : undefined,
        })
      ).status;
    expect(await statusWith("GET", { host: `localhost:${port}` })).toBe(200);
    expect(await statusWith("GET", { host: `evil.example:${port}` })).toBe(403);
    expect(await statusWith("GET", { host: "127.0.0.1:1" })).toBe(403);
    expect(await statusWith("POST", { origin: one.url })).toBe(400);
    expect(await statusWith("POST", { origin: `http://localhost:${port}` })).toBe(400);
    for (const origin of ["http://evil.example", `https://127.0.0.1:${port}`, "null"]) {
      expect([origin, await statusWith("POST", { origin })]).toEqual([origin, 403]);
    }
    expect(await statusWith("POST", {})).toBe(403);
    const evil = { origin: "http://evil.example" };
    expect((await open(one, { token: ADMIN_TOKEN }, evil)).status).toBe(403);
    expect((await open(one, { token: ADMIN_TOKEN }, { host: "evil.example" })).status).toBe(403);
  });

  it("at POSTHASTE_CONSOLE_ORIGINS over https has a cookie for https alone, and links lead there", async () => {
    const env = { POSTHASTE_CONSOLE_ORIGINS: "https://posthaste.example" };
    const behind = await startTestControl(topics, { env });
    const opened = await open(behind, { token: ADMIN_TOKEN }, { host: "posthaste.example" });
    expect([opened.status, opened.cookie]).toEqual([201, expect.stringMatching(/; Secure$/)]);
    expect((await open(behind, { token: ADMIN_TOKEN })).status).toBe(403);
    const { body } = await behind.call("POST", "/v1/session/link");
    expect(body.link).toMatch(/^https:\/\/posthaste\.example\/#sign-in=/);
    secrets.push(body.link.split("=")[1]);
    await behind.stop();
  });

  it("acts in the audit as its token, by the console", async () => {
    const { id, token } = await makeToken(["write"]);
    const opened = await open(one, { token });
    const headers = { ...cookieAt(one, opened), origin: one.url };
    const body = { name: "By hand", kind: "web" };
    expect((await ask(one, { method: "POST", path: "/v1/sources", headers, body })).status).toBe(201);
    const { data } = (await one.call("GET", `/v1/audit?actor=${id}&limit=2`)).body;
    expect(data).toMatchObject([
      { operation: "createSource", actor: "dana", way: "console" },
      { operation: "openSession", actor: "dana" },
    ]);
  });
});

it("a token for one's own terminal takes the place of the last one, and ends with the one that it is of", async () => {
  const { id, authorization } = await makeToken(["read"]);
  const mine = async (by: string) => {
    const { status, body } = await one.call("POST", "/v1/session/token", undefined, { authorization: by });
    expect([status, body.scopes]).toEqual([201, ["read"]]);
    secrets.push(body.token);
    return `Bearer ${body.token}`;
  };
  const statusBy = async (by: string) =>
    (await one.call("GET", "/v1/sources", undefined, { authorization: by })).status;
  const first = await mine(authorization);
  expect(await statusBy(first)).toBe(200);
  // Asked for by itself, it is still the one of its owner.
  const second = await mine(first);
  expect([await statusBy(first), await statusBy(second)]).toEqual([401, 200]);
  await one.call("DELETE", `/v1/tokens/${id}`);
  expect(await statusBy(second)).toBe(401);
});
