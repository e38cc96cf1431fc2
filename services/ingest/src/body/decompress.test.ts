import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { createBodyOpener, GONE } from "./decompress.ts";

const sent = (text: string) => ({ bytes: gzipSync(text) as Buffer | null, encoding: "gzip" });

it("a body that is opened twice in a row is inflated once, and nothing of it is kept after that", () => {
  const opener = createBodyOpener();
  const body = sent("one");
  const first = opener.open(body);
  expect(first).toEqual({ content: Buffer.from("one") });
  expect(opener.open(body)).toBe(first);
  expect(opener.open(body)).not.toBe(first);
});

it("of two bodies that are opened in turns neither is taken for the other", () => {
  const opener = createBodyOpener();
  const [one, two] = [sent("one"), sent("two")];
  for (const body of [one, two, one, two]) {
    expect(opener.open(body)).toEqual({ content: Buffer.from(body === one ? "one" : "two") });
  }
});

it("a body whose bytes were given back is gone, also when it was inflated before", () => {
  const opener = createBodyOpener();
  const body = sent("one");
  opener.open(body);
  body.bytes = null;
  expect(opener.open(body)).toEqual({ refusal: GONE });
});
