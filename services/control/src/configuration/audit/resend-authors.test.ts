/** RA1 and RA2 of resend-authors.ts. */

import type { AuditQuery, HeldEntry } from "@posthaste/configuration/audit-log";
import { expect, it } from "vitest";
import { ResendAuthors } from "./resend-authors.ts";

function audited(...known: readonly (readonly [target: string, actor: string])[]) {
  const asked: number[] = [];
  const entries = new Map(known);
  const freshness = { asOfMs: null, complete: true };
  const audit = {
    page: async ({ limit, fits }: AuditQuery) => {
      asked.push(limit);
      const held = [...entries].map(([target, actor]) => ({ target, actor }) as HeldEntry);
      return { entries: held.filter(fits), below: null, searchedToMs: null, isWhole: true, freshness };
    },
  };
  return { audit, asked, entries };
}

it("names who sent each by hand, and asks of none twice (RA1); of a replay nothing is asked", async () => {
  const { audit, asked } = audited(["rsd_1", "dana"], ["rsd_2", "admin"]);
  const authors = new ResendAuthors(audit, () => 0);
  expect(await authors.of([null, "rpl_1"])).toEqual(new Map());
  expect(await authors.of(["rsd_1", "rsd_1", null])).toEqual(new Map([["rsd_1", "dana"]]));
  expect(await authors.of(["rsd_1", "rsd_2"])).toEqual(
    new Map([
      ["rsd_1", "dana"],
      ["rsd_2", "admin"],
    ]),
  );
  await authors.of(["rsd_1", "rsd_2"]);
  expect(asked).toEqual([1, 1]);
});

it("asks again a minute later for what the audit did not know (RA2)", async () => {
  let nowMs = 0;
  const { audit, asked, entries } = audited();
  const authors = new ResendAuthors(audit, () => nowMs);
  await authors.of(["rsd_1"]);
  entries.set("rsd_1", "dana");
  nowMs = 59_999;
  expect(await authors.of(["rsd_1"])).toEqual(new Map());
  nowMs = 60_000;
  expect(await authors.of(["rsd_1"])).toEqual(new Map([["rsd_1", "dana"]]));
  expect(asked).toHaveLength(2);
});

it("does without what the audit does not answer in time, and asks again", async () => {
  let isDown = true;
  const { audit } = audited(["rsd_1", "dana"]);
  const page = (query: AuditQuery) => (isDown ? Promise.reject(new Error("deadline exceeded")) : audit.page(query));
  const authors = new ResendAuthors({ page }, () => 0);
  expect(await authors.of(["rsd_1"])).toEqual(new Map());
  isDown = false;
  expect(await authors.of(["rsd_1"])).toEqual(new Map([["rsd_1", "dana"]]));
});
