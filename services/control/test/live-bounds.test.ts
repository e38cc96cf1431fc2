/** The ends of streams, and the limit of open streams. */
import { eventually } from "@posthaste/testkit/eventually";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { TestControl } from "./control.ts";
import { type LiveClient, openLive } from "./live-client.ts";
import { control, other, useControls } from "./use-control.ts";

let one: TestControl;
let two: TestControl;
let clients: LiveClient[] = [];

useControls();

beforeAll(async () => {
  [one, two] = [control, other];
  await eventually(async () => expect((await one.call("GET", "/v1/deliveries")).body.complete).toBe(true));
});

afterEach(() => {
  for (const client of clients) client.cut();
  clients = [];
});

async function open(headers: Readonly<Record<string, string>> = {}): Promise<LiveClient> {
  const client = await openLive(one.url, "topics=deliveries", { headers });
  clients.push(client);
  return client;
}

const openStreams = async () => (await one.registry.getSingleMetric("posthaste_control_live_streams")?.get())?.values;

describe("a stream ends", () => {
  it("after its token was revoked, at the other process too, and no other stream with it", async () => {
    const { body } = await two.call("POST", "/v1/tokens", { name: "dana", scopes: ["read"] });
    const authorization = `Bearer ${body.token}`;
    const [hers, admins] = await eventually(async () => {
      const found = [await open({ authorization }), await open()] as const;
      expect(found[0].status).toBe(200);
      return found;
    });
    await two.call("DELETE", `/v1/tokens/${body.id}`);
    await eventually(() => expect(hers.ended()).toBe("closed"));
    expect(admins.ended()).toBeNull();
    expect((await open({ authorization })).status).toBe(401);
  });

  it("after its session ended, or the token that the session is of", async () => {
    const { body: token } = await one.call("POST", "/v1/tokens", { name: "dana", scopes: ["read"] });
    const signIn = async () => {
      const { headers } = await one.call("POST", "/v1/session", { token: token.token });
      return { authorization: "", cookie: headers.get("set-cookie")?.split(";")[0] ?? "", origin: one.url };
    };
    const [first, second] = [await signIn(), await signIn()];
    const [ended, other] = [await open(first), await open(second)];
    expect([ended.status, other.status]).toEqual([200, 200]);
    await one.call("DELETE", "/v1/session", undefined, first);
    await eventually(() => expect(ended.ended()).toBe("closed"));
    expect(other.ended()).toBeNull();
    await one.call("DELETE", `/v1/tokens/${token.id}`);
    await eventually(() => expect(other.ended()).toBe("closed"));
  });
});

it("a stream needs a token with read", async () => {
  const { body } = await one.call("POST", "/v1/tokens", { name: "replayer", scopes: ["replay"] });
  expect((await open({ authorization: `Bearer ${body.token}` })).status).toBe(403);
  expect((await open({ authorization: "" })).status).toBe(401);
});

it("a hundred streams are open at a process at the most; whoever closes one makes room", async () => {
  await eventually(async () => expect(await openStreams()).toMatchObject([{ value: 0 }]));
  const all = await Promise.all(Array.from({ length: 101 }, () => open()));
  const refused = all.filter(({ status }) => status !== 200);
  expect(refused.map(({ status, headers }) => [status, headers["retry-after"]])).toEqual([[429, "5"]]);
  all.find(({ status }) => status === 200)?.cut();
  await eventually(async () => expect((await open()).status).toBe(200));
});
