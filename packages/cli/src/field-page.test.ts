import { expect, it } from "vitest";
import { fieldPage } from "./field-page.ts";

const OPTIONS = { nowMs: Date.parse("2026-11-22T10:43:30.000Z"), bold: (text: string) => text, isColored: false };

it("a document is a page of its fields, in words, with its parts under headings", () => {
  const destination = {
    ...{ id: "dst_1", name: "Billing\u001b[31m", enabled: true, sourceIds: ["src_1", "src_2"] },
    settings: {
      urls: [
        { url: "https://a.example/", headers: { "X-Key": "***" } },
        { url: "https://b.example/", headers: {} },
      ],
      ...{ rateLimitPerSecond: null, sharedSecret: { set: true } },
    },
    createdAt: "2026-11-22T10:41:30.117Z",
    notes: [],
  };
  expect(fieldPage(destination, OPTIONS)).toEqual([
    "id          dst_1",
    "name        Billing [31m",
    "enabled     true",
    "source ids  src_1, src_2",
    "settings",
    "  urls 1",
    "    url  https://a.example/",
    "    headers",
    "      X-Key  ***",
    "  urls 2",
    "    url  https://b.example/",
    "    headers  -",
    "  rate limit per second  -",
    "  shared secret",
    "    set  true",
    "created at  2026-11-22 10:41:30 UTC (1m ago)",
    "notes       -",
  ]);
});

it("a page has its labels bold and its states in colour, where there are colours", () => {
  const bold = (text: string) => `<${text}>`;
  expect(fieldPage({ state: "open" }, { ...OPTIONS, bold, isColored: true })).toEqual([
    "<state>  \u001b[31mopen\u001b[39m",
  ]);
});
