import { describe, expect, it } from "vitest";
import { type AccessRecord, isExpired, LINK_MS, SESSION_IDLE_MS, SESSION_MS } from "./access-record.ts";
import { missingScopes } from "./scope.ts";

const record: AccessRecord = {
  id: "tok_1",
  revision: 1,
  kind: "token",
  name: "dana",
  hash: null,
  scopes: ["read"],
  tokenId: null,
  adminMark: null,
  createdAtMs: 1000,
  createdBy: "admin",
  expiresAtMs: null,
  usedAtMs: null,
};

describe("what may be used by itself", () => {
  it("is a token for ever, or until its end", () => {
    expect(isExpired(record, Number.MAX_SAFE_INTEGER)).toBe(false);
    expect([2999, 3000].map((nowMs) => isExpired({ ...record, expiresAtMs: 3000 }, nowMs))).toEqual([false, true]);
  });

  it("is a link for 24 hours, and a session for seven days at the most, of which twelve hours idle", () => {
    expect([LINK_MS, SESSION_MS, SESSION_IDLE_MS].map((ms) => ms / 3_600_000)).toEqual([24, 7 * 24, 12]);
  });

  it("is a link until its end, once", () => {
    const link: AccessRecord = { ...record, kind: "link", expiresAtMs: 3000 };
    expect([2999, 3000].map((nowMs) => isExpired(link, nowMs))).toEqual([false, true]);
    expect(isExpired({ ...link, usedAtMs: 1500 }, 2000)).toBe(true);
  });

  it("is a session until its end, and while it is used", () => {
    const session: AccessRecord = { ...record, kind: "session", expiresAtMs: 1000 + 3 * SESSION_IDLE_MS };
    const at = (nowMs: number, usedAtMs: number | null = null) => isExpired({ ...session, usedAtMs }, nowMs);
    expect([at(1000 + SESSION_IDLE_MS - 1), at(1000 + SESSION_IDLE_MS)]).toEqual([false, true]);
    expect([at(1000 + SESSION_IDLE_MS, 2000), at(2000 + SESSION_IDLE_MS, 2000)]).toEqual([false, true]);
    expect(at(1000 + 3 * SESSION_IDLE_MS, 1000 + 3 * SESSION_IDLE_MS - 1)).toBe(true);
  });
});

it("scopes that are missing are those alone that are asked for and not had", () => {
  expect(missingScopes(["read", "write"], ["write", "replay"])).toEqual(["replay"]);
  expect(missingScopes(["read"], [])).toEqual([]);
});
