import type { AccessRecord } from "@posthaste/core/access/access-record";
import { expect, it } from "vitest";
import { TokenHandlers } from "./token-handlers.ts";

const NOW_MS = 1_800_000_000_000;

const record = (id: string, differing: Partial<AccessRecord>): AccessRecord => ({
  ...{ id, kind: "token", name: id, hash: null, scopes: ["read"], tokenId: null, adminMark: null, revision: 1 },
  ...{ createdAtMs: NOW_MS, createdBy: "admin", expiresAtMs: null, usedAtMs: null },
  ...differing,
});
const link = (id: string, tokenId: string, expiresAtMs: number) => record(id, { kind: "link", tokenId, expiresAtMs });
const session = (id: string, tokenId: string | null, times: Partial<AccessRecord>) =>
  record(id, { kind: "session", tokenId, ...times });

it("tokens are told with their newest link and their newest session's use, and nobody else's", () => {
  const records = [
    record("tok_1", {}),
    record("tok_2", {}),
    record("tok_3", {}),
    ...[link("link_1", "tok_1", NOW_MS + 2), link("link_2", "tok_1", NOW_MS + 9), link("link_3", "tok_1", NOW_MS + 5)],
    session("ses_1", "tok_2", { createdAtMs: NOW_MS + 1, usedAtMs: NOW_MS + 7 }),
    session("ses_2", "tok_2", { createdAtMs: NOW_MS + 3 }),
    link("link_4", "tok_2", NOW_MS + 4),
    // Of the environment's token.
    session("ses_3", null, { createdAtMs: NOW_MS + 20 }),
    // Over.
    session("ses_4", "tok_3", { createdAtMs: NOW_MS + 30 }),
  ];
  const byId = new Map(records.map((each) => [each.id, each]));
  const handlers = new TokenHandlers({
    store: {
      records: { values: () => byId.values() },
      isLive: ({ id }: AccessRecord) => id !== "ses_4",
      freshness: { asOfMs: null, complete: true },
    },
    uses: { usedAtMs: (id: string) => (id === "tok_3" ? NOW_MS + 8 : null) },
    clock: { nowMs: () => NOW_MS, monotonicMs: () => 0 },
  } as unknown as ConstructorParameters<typeof TokenHandlers>[0]);
  const reported = handlers
    .list({ limit: 50 })
    .data.map(({ record: { id }, linkUntilMs, sessionUsedAtMs, usedAtMs }) => [
      ...[id, linkUntilMs, sessionUsedAtMs, usedAtMs],
    ]);
  expect(reported).toEqual([
    ["tok_1", NOW_MS + 9, null, null],
    ["tok_2", NOW_MS + 4, NOW_MS + 7, null],
    ["tok_3", null, null, NOW_MS + 8],
  ]);
});
