import { readFile } from "node:fs/promises";
import { CALL_REFUSAL_STATUS, CALL_REFUSALS } from "@posthaste/core/call/call";
import { expect, it } from "vitest";
import { ADVISED_CODES, adviceFor } from "./refusal-advice.ts";

it("docs/ingest.md has each refusal of a call under the status that single calls are answered by", async () => {
  const page = await readFile(new URL("../../../../../docs/ingest.md", import.meta.url), "utf8");
  for (const [code, status] of Object.entries(CALL_REFUSAL_STATUS)) {
    expect(page).toMatch(new RegExp(`^\\| ${status} \\| [^|]*\`${code}\``, "m"));
  }
});

it("there is advice for every code that docs/ingest.md has, and for every refusal of a call", async () => {
  const page = await readFile(new URL("../../../../../docs/ingest.md", import.meta.url), "utf8");
  const rows = page.matchAll(/^\| (?:4|5)\d\d \| ([^|]+) \|/gm);
  const codes = [...rows].flatMap(([, cell = ""]) => [...cell.matchAll(/`(\w+)`/g)].map(([, code]) => code));
  expect(codes.length).toBeGreaterThan(15);
  expect([...codes, ...CALL_REFUSALS].filter((code) => !ADVISED_CODES.includes(code ?? ""))).toEqual([]);
});

it("a code of a later release is looked up where codes are explained", () => {
  expect(adviceFor("of_tomorrow")).toBe("docs/ingest.md says what this code means.");
});
