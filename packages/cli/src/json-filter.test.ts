import { expect, it } from "vitest";
import { jsonFilter } from "./json-filter.ts";

const DESTINATION = { id: "dst_1", state: "open", settings: { urls: [{ url: "https://a/" }, { url: "https://b/" }] } };

it.each([
  [".settings.urls[].url", ["https://a/", "https://b/"]],
  ['select(.state == "open") | {id, urls: (.settings.urls | length)}', ['{"id":"dst_1","urls":2}']],
  ['select(.state == "healthy")', []],
  [".missing", ["null"]],
])("%s prints its results, texts as they are", (program, lines) => {
  expect(jsonFilter(program)(DESTINATION)).toEqual(lines);
});

it("a text that is no program, and a document that does not fit, are errors of the command line", () => {
  expect(() => jsonFilter(".a[")).toThrow(expect.objectContaining({ exitCode: 2 }));
  expect(() => jsonFilter("@tsv")(DESTINATION)).toThrow(/^--jq: cannot tsv-format/);
});
