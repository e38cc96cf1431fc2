/** Tokens, links and sessions as records, over a clock of the test's own. */

import { AuditTrail } from "@posthaste/configuration/audit-trail";
import {
  type AccessRecord,
  ADMIN_TOKEN_ID,
  LINK_MS,
  SESSION_IDLE_MS,
  SESSION_MS,
  SESSION_NOTE_MS,
  USE_NOTE_MS,
} from "@posthaste/core/access/access-record";
import type { AuditEntry } from "@posthaste/core/access/audit-entry";
import { SCOPES } from "@posthaste/core/access/scope";
import { SILENT_LOG } from "@posthaste/core/log";
import type { RequestHead } from "@posthaste/http-kit/caller";
import { NOBODY } from "@posthaste/http-kit/caller";
import { ConsoleOrigins } from "@posthaste/http-kit/console-origins";
import { adminMarkOf, hashOf } from "@posthaste/http-kit/identifiers";
import { Problem } from "@posthaste/http-kit/problem";
import { WrongTokens } from "@posthaste/http-kit/wrong-tokens";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type AccessStore, openAccessStore } from "../src/configuration/access/access-store.ts";
import { SessionHandlers } from "../src/configuration/access/session-handlers.ts";
import { TokenCallers } from "../src/configuration/access/token-callers.ts";
import { TokenHandlers } from "../src/configuration/access/token-handlers.ts";
import { TokenUses } from "../src/configuration/access/token-uses.ts";

const BEGIN_MS = Date.now();
const adminToken = "token-of-the-test-0123456789";
const adminMark = adminMarkOf(adminToken);
let nowMs = BEGIN_MS;
const clock = { nowMs: () => nowMs, monotonicMs: () => performance.now() };

let topics: TestTopics;
let store: AccessStore;

beforeAll(async () => {
  topics = await createTestTopics("control");
  const { connection, openCodec, names, producer } = topics;
  const trail = new AuditTrail({ topic: names.audit, codec: await openCodec<AuditEntry>("audit"), clock });
  store = await openAccessStore(connection, {
    ...{ openCodec, producer, clock, trail, adminMark, log: SILENT_LOG, writer: 7, topic: names.tokens },
  });
  await store.caughtUp();
});

afterAll(async () => {
  await store.records.close();
  await topics.remove();
});

/** Puts a record there that `text` opens. */
async function put(id: string, text: string, differing: Partial<AccessRecord>): Promise<void> {
  nowMs = BEGIN_MS;
  const record: Omit<AccessRecord, "revision"> = {
    ...{ id, kind: "token", name: "dana", hash: hashOf(text), scopes: [], tokenId: null, adminMark: null },
    ...{ createdAtMs: nowMs, createdBy: "admin", expiresAtMs: null, usedAtMs: null },
    ...differing,
  };
  await store.records.change(id, (_, revision) => ({ ...record, revision }), null);
}

const HEAD: RequestHead = {
  ...{ method: "GET", address: "a", authorization: undefined, cookie: undefined },
  ...{ host: "127.0.0.1:8090", origin: undefined, userAgent: undefined },
};
const NO_USES = { note: () => undefined };
const OF_ADMIN = { tokenId: ADMIN_TOKEN_ID, adminMark };

it("a link and a session open nothing when their time is over, and TK3: are removed then", async () => {
  await put("link_1", "link", { kind: "link", expiresAtMs: BEGIN_MS + LINK_MS, ...OF_ADMIN });
  await put("ses_1", "session", { kind: "session", expiresAtMs: BEGIN_MS + SESSION_MS, ...OF_ADMIN });
  await put("tok_1", "token", { scopes: ["read"] });
  nowMs = BEGIN_MS + SESSION_IDLE_MS - 1;
  expect(["link", "session", "token"].map((text) => store.find(hashOf(text))?.id)).toEqual([
    "link_1",
    "ses_1",
    "tok_1",
  ]);
  nowMs = BEGIN_MS + LINK_MS;
  expect(["link", "session", "token"].map((text) => store.find(hashOf(text))?.id)).toEqual([
    undefined,
    undefined,
    "tok_1",
  ]);
  await store.removeExpired();
  expect([...store.records.values()].map(({ id }) => id)).toEqual(["tok_1"]);
});

it("a session is of the token that stands, and of the one of the environment that is set", async () => {
  await put("tok_2", "parent", { scopes: ["read"] });
  await put("ses_2", "of a token", { kind: "session", tokenId: "tok_2" });
  await put("ses_3", "of another", {
    kind: "session",
    tokenId: ADMIN_TOKEN_ID,
    adminMark: adminMarkOf("the last one"),
  });
  expect([store.find(hashOf("of a token"))?.id, store.find(hashOf("of another"))]).toEqual(["ses_2", undefined]);
  await store.records.change("tok_2", () => null, null);
  expect(store.find(hashOf("of a token"))).toBeUndefined();
});

/** The token and session handlers of a process that has read nothing yet, and reads on request. */
function openBehind(change = (...asked: Parameters<typeof store.records.change>) => store.records.change(...asked)) {
  let isRead = false;
  let readings = 0;
  // As much of a store as is used here.
  const behind = {
    isCaughtUp: true,
    find: (hash: string) => (isRead ? store.find(hash) : undefined),
    knows: (hash: string) => isRead && store.knows(hash),
    isLive: (record: AccessRecord) => store.isLive(record),
    tokenOf: (record: AccessRecord) => store.tokenOf(record),
    records: {
      change,
      readLate: async () => {
        isRead = true;
        readings += 1;
        return true;
      },
    },
  } as unknown as AccessStore;
  const wrong = new WrongTokens(clock);
  const origins = new ConsoleOrigins({ configured: [], port: () => 8090 });
  const callers = new TokenCallers({
    adminToken,
    store: behind,
    origins,
    wrong,
    clock,
    log: SILENT_LOG,
    uses: NO_USES,
  });
  const sessions = new SessionHandlers({ store: behind, callers, origins, wrong, adminMark, clock });
  return { callers, sessions, readings: () => readings };
}

it("a link that another process made a moment ago is looked for in the topic before it is refused", async () => {
  await put("link_2", "fresh", { kind: "link", expiresAtMs: BEGIN_MS + LINK_MS, ...OF_ADMIN });
  const { sessions } = openBehind();
  const by = { caller: NOBODY, operation: "openSession", requestId: "req_1" };
  expect((await sessions.open({ code: "fresh" }, HEAD, by)).caller).toMatchObject({ name: "admin", way: "console" });
});

it("CS3: so is a token, and counts as a wrong one only meanwhile", async () => {
  await put("tok_3", "fresh token", { scopes: ["read"] });
  for (const wrong of [0, 8, 9]) {
    const { callers } = openBehind();
    const ask = (token: string) => callers.callerWith(token, HEAD).then(({ tokenId }) => tokenId, refusalOf);
    // All of them wait for one reading.
    const asked = [...Array.from({ length: wrong }, (_, n) => `wrong-${n}`), "fresh token"].map(ask);
    expect(await Promise.all(asked)).toEqual([...Array(wrong).fill("unauthorized"), "tok_3"]);
    const left = Array.from({ length: 10 - wrong }, () => "unauthorized");
    expect(await Promise.all([...left, "one more"].map(ask))).toEqual([...left, "too_many_requests"]);
  }
});

it("TK2: a process that ends between a session and the use of its link has used up nothing", async () => {
  await put("link_4", "cut off", { kind: "link", expiresAtMs: BEGIN_MS + LINK_MS, ...OF_ADMIN });
  let writes = 0;
  const { sessions } = openBehind(async (...asked) => {
    writes += 1;
    if (writes > 1) throw new Error("the process has ended");
    return await store.records.change(...asked);
  });
  const by = { caller: NOBODY, operation: "openSession", requestId: "req_1" };
  await expect(sessions.open({ code: "cut off" }, HEAD, by)).rejects.toThrow("the process has ended");
  expect([writes > 1, store.find(hashOf("cut off"))?.id]).toEqual([true, "link_4"]);
});

it.each([1, 2])(
  "TK4: killed at write %d, a token with a link is none, and the next one that is asked for is",
  async (killedAt) => {
    nowMs = BEGIN_MS;
    let writes = 0;
    const make = (dies: boolean) => {
      const { sessions } = openBehind(changeOf(dies));
      const killed = { records: { change: changeOf(dies) }, isLive: () => true } as unknown as AccessStore;
      const handlers = new TokenHandlers({ store: killed, uses: { usedAtMs: () => null }, clock });
      const input = { name: `eve-${killedAt}`, scopes: ["read" as const], link: true };
      const by = { caller: { ...NOBODY, scopes: SCOPES }, operation: "createToken", requestId: "req_1" };
      return handlers.create(input, by, (token) => sessions.createLink(HEAD, by, token));
    };
    const changeOf =
      (dies: boolean) =>
      async (...asked: Parameters<typeof store.records.change>) => {
        writes += 1;
        if (dies && writes >= killedAt) throw new Error("the process has ended");
        return await store.records.change(...asked);
      };
    const named = (kind: string) =>
      [...store.records.values()].filter((each) => each.name === `eve-${killedAt}` && each.kind === kind);
    await expect(make(true)).rejects.toThrow("the process has ended");
    expect([named("token"), named("link").map((each) => store.isLive(each))]).toEqual([
      [],
      Array(killedAt - 1).fill(false),
    ]);
    // One whose token is still to come stays.
    await store.removeExpired();
    expect(named("link")).toHaveLength(killedAt - 1);
    const { record, token, link } = await make(false);
    expect([token, named("token").map(({ id }) => id)]).toEqual([null, [record.id]]);
    expect(store.find(hashOf(link?.split("=")[1] ?? ""))?.tokenId).toBe(record.id);
    nowMs = BEGIN_MS + 60_001;
    await store.removeExpired();
    expect(named("link").map(({ tokenId }) => tokenId)).toEqual([record.id]);
  },
);

it("CS4: ten sessions that nobody knows are looked for by address, and shut nobody out", async () => {
  await put("ses_5", "fresh session", { kind: "session", expiresAtMs: BEGIN_MS + SESSION_MS, ...OF_ADMIN });
  const { callers, readings } = openBehind();
  const ask = (code: string, address = "a") =>
    callers
      .callerOf({ ...HEAD, address, cookie: `posthaste-session-8090=${code}` })
      .then(({ sessionId }) => sessionId, refusalOf);
  // One that another process opened is no wrong one.
  expect([await ask("fresh session"), readings()]).toEqual(["ses_5", 1]);
  const wrong = Array.from({ length: 12 }, (_, n) => `wrong-${n}`);
  expect(await Promise.all(wrong.map((code) => ask(code)))).toEqual(wrong.map(() => "unauthorized"));
  expect(readings()).toBe(11);
  expect([await ask("wrong", "b"), readings()]).toEqual(["unauthorized", 12]);
  expect(await ask("fresh session")).toBe("ses_5");
  const admin = { ...HEAD, authorization: `Bearer ${adminToken}` };
  expect((await callers.callerOf(admin)).name).toBe("admin");
});

it("a link that is wrong counts as a wrong token while it is looked for, one that is right does not", async () => {
  await put("link_3", "another fresh", { kind: "link", expiresAtMs: BEGIN_MS + LINK_MS, ...OF_ADMIN });
  const { sessions, readings } = openBehind();
  const by = { caller: NOBODY, operation: "openSession", requestId: "req_1" };
  const ask = (code: string) => sessions.open({ code }, HEAD, by).then(({ caller }) => caller.name, refusalOf);
  const wrong = Array.from({ length: 9 }, (_, n) => `wrong-${n}`);
  expect(await Promise.all(["another fresh", ...wrong, "at once"].map(ask))).toEqual([
    "admin",
    ...wrong.map(() => "unauthorized"),
    "too_many_requests",
  ]);
  expect([await ask("the tenth"), await ask("one more")]).toEqual(["unauthorized", "too_many_requests"]);
  expect(readings()).toBe(11);
});

const refusalOf = (reason: unknown) => (reason instanceof Problem ? reason.kind : reason);

it("CS2: a session's use is written when the last one written is five minutes old, and lasts from there", async () => {
  await put("ses_4", "used", { kind: "session", expiresAtMs: BEGIN_MS + SESSION_MS, ...OF_ADMIN });
  const origins = new ConsoleOrigins({ configured: [], port: () => 8090 });
  const callers = new TokenCallers({
    adminToken,
    store,
    origins,
    wrong: new WrongTokens(clock),
    uses: NO_USES,
    clock,
    log: SILENT_LOG,
  });
  const use = () => callers.callerOf({ ...HEAD, cookie: "posthaste-session-8090=used" });
  nowMs = BEGIN_MS + SESSION_NOTE_MS - 1;
  expect(await use()).toMatchObject({ name: "admin", sessionId: "ses_4", way: "console" });
  const revision = store.records.get("ses_4")?.revision;
  nowMs = BEGIN_MS + SESSION_IDLE_MS - 1;
  for (let n = 0; n < 5; n += 1) await use();
  await eventually(() => expect(store.records.get("ses_4")?.usedAtMs).toBe(nowMs));
  // The first use was not written.
  expect(store.records.get("ses_4")?.revision).not.toBe(revision);
  nowMs += SESSION_IDLE_MS - 1;
  expect((await use()).sessionId).toBe("ses_4");
});

it("TU1, TU2: a token's use is told at once, and written when the last one written is a minute old", async () => {
  await put("tok_9", "used text", { scopes: ["read"] });
  const change = vi.fn((...asked: Parameters<typeof store.records.change>) => store.records.change(...asked));
  const records = { get: (id: string) => store.records.get(id), change } as unknown as AccessStore["records"];
  const [uses, elsewhere] = [1, 2].map(() => new TokenUses({ store: { records }, clock, log: SILENT_LOG }));
  if (uses === undefined || elsewhere === undefined) throw new Error("there are two");
  const token = store.records.get("tok_9") as AccessRecord;
  const written = () => store.records.get("use_tok_9");
  expect([uses.usedAtMs("tok_9"), elsewhere.usedAtMs("tok_9")]).toEqual([null, null]);
  nowMs = BEGIN_MS + 5;
  uses.note(token);
  expect(uses.usedAtMs("tok_9")).toBe(nowMs);
  await eventually(() => expect(elsewhere.usedAtMs("tok_9")).toBe(BEGIN_MS + 5));
  expect(store.isLive(written() as AccessRecord)).toBe(true);
  nowMs = BEGIN_MS + 5 + USE_NOTE_MS - 1;
  uses.note(token);
  expect([uses, elsewhere].map((each) => each.usedAtMs("tok_9"))).toEqual([nowMs, BEGIN_MS + 5]);
  nowMs += 1;
  elsewhere.note(token);
  await eventually(() => expect(written()?.usedAtMs).toBe(nowMs));
  // The second use was told where it was seen, and not written.
  expect(change).toHaveBeenCalledTimes(2);
  expect(uses.usedAtMs("tok_9")).toBe(nowMs);
  await store.records.change("tok_9", () => null, null);
  await store.removeExpired();
  expect(written()).toBeUndefined();
  uses.forgetRevoked();
  expect(uses.usedAtMs("tok_9")).toBeNull();
});
