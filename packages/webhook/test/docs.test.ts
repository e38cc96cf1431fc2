import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createBodySigner } from "../src/sign.ts";

const page = readFileSync(new URL("../../../docs/webhooks.md", import.meta.url), "utf8");

describe("docs/webhooks.md", () => {
  it("shows JavaScript that accepts a genuine body and no other", async () => {
    const [, code = ""] = /```js\n(.*?)```/s.exec(page) ?? [];
    const { isGenuine } = await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`);
    const body = Buffer.from('{"name":"Zoë"}');
    expect(isGenuine(body, createBodySigner("secrét")(body), "secrét")).toBe(true);
    expect(isGenuine(body, createBodySigner("other")(body), "secrét")).toBe(false);
    expect(isGenuine(Buffer.from("{}"), createBodySigner("secrét")(body), "secrét")).toBe(false);
    expect(isGenuine(body, undefined, "secrét")).toBe(false);
  });
});
