import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { staticHeaderProblem, staticHeaderProblems } from "./static-headers.ts";

const RESERVED = [
  "Host",
  "Content-Length",
  "Transfer-Encoding",
  "Connection",
  "Content-Type",
  "User-Agent",
  "X-Signature",
  "X-Message-Id",
  "X-Attempt",
  "Expect",
  "Upgrade",
  "Keep-Alive",
  "TE",
  "Trailer",
  "Proxy-Authorization",
  "Proxy-Anything",
  "webhook-id",
  "webhook-timestamp",
  "webhook-signature",
  "Webhook-Other",
];

describe("staticHeaderProblem", () => {
  it.each(RESERVED)("refuses %s in any case", (name) => {
    for (const written of [name, name.toLowerCase(), name.toUpperCase()]) {
      expect(staticHeaderProblem(written, "value")).toContain("set by the service");
    }
  });

  it.each(["Authorization", "X-Api-Key", "x-custom", "Accept", "Cookie", "X-Signature-Key", "Proxyless", "Hostname"])(
    "lets %s pass",
    (name) => {
      expect(staticHeaderProblem(name, "value")).toBeNull();
    },
  );

  it.each(["", "with space", "colon:", "new\nline", "ümlaut", "a(b)", "a,b"])("refuses the name %j", (name) => {
    expect(staticHeaderProblem(name, "value")).toContain("is not a header name");
  });

  it.each(["a\r\nX-Injected: 1", "nul\0", "tab\t", "\x7f", "\x80", "snow ☃", "pile 💩"])(
    "refuses the value %j",
    (value) => {
      expect(staticHeaderProblem("X-Custom", value)).toContain("control character or one outside Latin-1");
    },
  );

  it("lets every printable character of Latin-1 pass as a value", () => {
    const printable = fc.oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0xa0, max: 0xff }));
    const value = fc.array(printable).map((codes) => String.fromCharCode(...codes));
    fc.assert(
      fc.property(value, (text) => {
        expect(staticHeaderProblem("X-Custom", text)).toBeNull();
      }),
    );
  });
});

describe("staticHeaderProblems", () => {
  it("names every header that may not be set, in order", () => {
    const problems = staticHeaderProblems({ Host: "a", "X-Fine": "b", "X-Bad": "c\n" });
    expect(problems.map(({ name }) => name)).toEqual(["Host", "X-Bad"]);
  });

  it("refuses a name that is given twice in different case", () => {
    expect(staticHeaderProblems({ "X-Api-Key": "a", "x-api-key": "b" })).toEqual([
      { name: "x-api-key", problem: "is given twice" },
    ]);
  });
});
