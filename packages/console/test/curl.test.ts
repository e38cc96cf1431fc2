/** CU1 of curl.ts, by running the line; and JSON told apart. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { startReceiver } from "@posthaste/testkit/receiver";
import { hasGoodSignature } from "@posthaste/testkit/signature";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonTokens } from "../src/body/json-tokens.ts";
import { curlOf } from "../src/terminal/curl.ts";

describe("a request as a line for a shell", () => {
  it("CU1: sends the same bytes, signed by a secret that is in the environment and not in the line", async () => {
    const receiver = await startReceiver();
    const body = JSON.stringify({ text: 'it\'s $HOME `id` "quoted" \\n é\n', n: 1e21 });
    const headers = {
      ...{ "Content-Type": "application/json", "X-Message-Id": "message-7", "X-Odd": "it's $5" },
      ...{ "X-Signature": "***", "X-Team": "***" },
    };
    const line = curlOf({ url: `${receiver.url}/hook?a=1&b=2`, headers, body });
    // Not the environment of the tests: a proxy in it would be asked.
    const env = { PATH: process.env["PATH"], SHARED_SECRET: "top secret", X_TEAM: "crm" };
    await promisify(execFile)("sh", ["-c", line], { env });
    const [request] = receiver.requests;
    await receiver.close();
    expect(request?.target).toBe("/hook?a=1&b=2");
    expect(request?.body.toString()).toBe(body);
    expect(request?.headers).toMatchObject({ "x-message-id": "message-7", "x-odd": "it's $5", "x-team": "crm" });
    expect(request !== undefined && hasGoodSignature(request, "top secret")).toBe(true);
    expect(line).not.toContain("***");
  });
});

describe("JSON for the eye", () => {
  it("loses nothing, whatever the text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        expect(
          jsonTokens(text)
            .map((token) => token.text)
            .join(""),
        ).toBe(text);
      }),
    );
  });

  it("tells names from texts, numbers and words", () => {
    const kinds = jsonTokens('{"a": "b:", "c": [-1.5e3, true]}').flatMap(({ kind, text }) =>
      kind === "plain" ? [] : [[kind, text]],
    );
    expect(kinds).toEqual([
      ["name", '"a"'],
      ["text", '"b:"'],
      ["name", '"c"'],
      ["number", "-1.5e3"],
      ["word", "true"],
    ]);
  });
});
