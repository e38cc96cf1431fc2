import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { destinationInput, destinationPatch, nextSecretInput } from "./destination-settings.ts";

const withUrls = (urls: unknown) => ({ type: "Webhooks", name: "n", settings: { urls } });

/** `path: message` of each fault; empty when the input is accepted. */
function faults(
  input: unknown,
  schema: typeof destinationInput | typeof destinationPatch = destinationInput,
): string[] {
  const result = schema.safeParse(input);
  return result.success ? [] : result.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

describe("a webhook URL", () => {
  it.each([
    "https://a.example",
    "http://a.example:8080/hook?x=1&y=%20#part",
    "HTTPS://A.example/",
    "http://127.0.0.1:9/",
    "http://[::1]/",
    "https://bücher.example/ü",
    "https://a.example/path@with:at?mail=a@b.example",
  ])("may be %s", (url) => {
    expect(faults(withUrls([{ url }]))).toEqual([]);
  });

  it.each([
    ["", /^settings\.urls\.0\.url: expected a full URL that begins with http/],
    ["a.example/hook", /begins with http/],
    ["//a.example", /begins with http/],
    ["javascript:alert(1)", /begins with http/],
    ["http:/a.example", /begins with http/],
    [" https://a.example", /begins with http/],
    ["https://a.example/\u0000", /control character/],
    ["https://a.example/\tx", /white space/],
    ["https://a.example\\@b.example/", /backslash/],
    ["https:///user@a.example/", /begins with http/],
    ["https://user@a.example/", /user name or password/],
    ["https://:pass@a.example/", /user name or password/],
    ["https://", /not a URL/],
    ["https://a.example:99999/", /not a URL/],
    ["https://a.example:0/hook", /port 0: give a port from 1 to 65535/],
    ["https://a.example/\ud800", /not a URL/],
    [`https://a.example/${"x".repeat(2048)}`, /at most 2048/],
  ])("may not be %j", (url, reason) => {
    expect(faults(withUrls([{ url }])).join("\n")).toMatch(reason);
  });

  it("that is accepted reads the same to a parser: http or https, and nobody's name or password in it", () => {
    const scheme = fc.constantFrom("http://", "https://", "HTTP://");
    const piece = fc.constantFrom(
      ":",
      "/",
      "@",
      "a.example",
      "user",
      "?",
      "#",
      "\\",
      " ",
      "%40",
      "\t",
      "[::1]",
      "8080",
    );
    fc.assert(
      fc.property(scheme, fc.array(piece, { maxLength: 8 }), (start, pieces) => {
        const url = start + pieces.join("");
        if (faults(withUrls([{ url }])).length > 0) return;
        const parsed = new URL(url);
        expect(parsed.protocol).toMatch(/^https?:$/);
        expect(parsed.username + parsed.password).toBe("");
        expect(parsed.hostname).not.toBe("");
      }),
      { numRuns: 2000 },
    );
  });

  it("is not shown with its password when it is refused", () => {
    for (const url of [
      ...["https://user:hunter2@a.example/", "ftp://user:hunter2@a.example/", "http:\\user:hunter2@a"],
      ...["user:hunter2@a.example/", " https://user:hunter2@a.example/", "https://user:hun/hunter2@a.example/"],
    ]) {
      const [fault] = faults(withUrls([{ url }]));
      expect(fault).toContain("***@");
      expect(fault).not.toContain("hunter2");
    }
  });
});

describe("static headers", () => {
  it("are refused by URL and name, each fault of its own, without their values", () => {
    const headers = { Host: "value-1", "X-Good": "value-2", "proxy-auth": "value-3", "X-Bad": "value-4\n" };
    const found = faults(withUrls([{ url: "https://a.example/", headers }]));
    expect(found).toEqual([
      'settings.urls.0.headers.Host: https://a.example/: header "Host" is set by the service and cannot be changed',
      'settings.urls.0.headers.proxy-auth: https://a.example/: header "proxy-auth" is set by the service and cannot be changed',
      'settings.urls.0.headers.X-Bad: https://a.example/: header "X-Bad" has a value with a control character or one outside Latin-1',
    ]);
    expect(found.join("")).not.toContain("value-");
  });

  it("may not be the same name in different case, nor more than fifty", () => {
    const twice = { "X-Team": "a", "x-team": "b" };
    expect(faults(withUrls([{ url: "https://a.example/", headers: twice }])).join()).toMatch(/"x-team" is given twice/);
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`x-${n}`, "v"]));
    expect(faults(withUrls([{ url: "https://a.example/", headers: many }])).join()).toMatch(/at most 50 headers/);
  });
});

describe("what lacks or is of another kind", () => {
  it("is told in words of ours", () => {
    expect(faults({ type: "Webhooks", settings: {} })).toEqual([
      "name: a name is needed, as text",
      'settings.urls: expected a list of 1 to 5 URLs, each {"url": …}',
    ]);
    const settings = { urls: [{ url: "https://a.example" }] };
    const withSources = (sourceIds: unknown) => ({ type: "Webhooks", name: "n", sourceIds, settings });
    expect(faults(withSources("src_1"))).toEqual(["sourceIds: expected a list of the ids of sources"]);
    expect(faults(withSources([1]))).toEqual(["sourceIds.0: expected the id of a source"]);
    expect(faults(withSources(Array.from({ length: 1001 }, (_, n) => `src_${n}`)))).toEqual([
      "sourceIds: a destination has at most 1000 sources",
    ]);
  });
});

describe("the response log", () => {
  const withLog = (responseLog: unknown) => ({
    type: "Webhooks",
    name: "n",
    settings: { urls: [{ url: "https://a.example" }], responseLog },
  });

  it("is one of three words, or left to its default", () => {
    for (const word of ["failures", "all", "off", undefined]) expect(faults(withLog(word))).toEqual([]);
    for (const other of ["none", true, null]) {
      expect(faults(withLog(other))).toEqual(["settings.responseLog: expected one of failures, all, off"]);
    }
  });
});

describe("a change", () => {
  it("needs nothing, and takes only what it names", () => {
    expect(faults({}, destinationPatch)).toEqual([]);
    expect(faults({ settings: {} }, destinationPatch)).toEqual([]);
    expect(destinationPatch.parse({ settings: { settle: "each" } })).toEqual({ settings: { settle: "each" } });
    expect(faults({ id: "dst_1" }, destinationPatch).join()).toMatch(/Unrecognized key: "id"/);
    expect(faults({ settings: { urls: [] } }, destinationPatch).join()).toMatch(/at least one URL/);
  });
});

describe("a next secret", () => {
  it.each(["", "***", "x".repeat(15), `${"x".repeat(16)}\udc00`, "x".repeat(1025)])("may not be %j", (sharedSecret) => {
    expect(nextSecretInput.safeParse({ sharedSecret }).success).toBe(false);
  });

  it("may be any other text, in any script", () => {
    expect(nextSecretInput.safeParse({ sharedSecret: "gehëim 秘密 🔑 gehëim" }).success).toBe(true);
  });
});

describe("a shared secret", () => {
  const withSecret = (sharedSecret: unknown) => ({
    type: "Webhooks",
    name: "n",
    settings: { urls: [{ url: "https://a.example" }], sharedSecret },
  });

  it.each(["x".repeat(16), "x".repeat(1024), "***", { set: true }, null])("may be %j", (sharedSecret) => {
    expect(faults(withSecret(sharedSecret))).toEqual([]);
  });

  it("may not be half of a character", () => {
    expect(faults(withSecret(`${"x".repeat(16)}\udc00`)).join()).toMatch(/half of a surrogate pair/);
  });

  it.each(["", "s3cret", "x".repeat(15), "x".repeat(1025)])(
    "may not be %j, and is refused with the reason",
    (sharedSecret) => {
      const [fault] = faults(withSecret(sharedSecret));
      expect(fault).toMatch(/^settings.sharedSecret: expected a text of 16 to 1024 characters/);
      expect(fault).toMatch(/a shorter one can be guessed from a single signed request/);
    },
  );
});

it("a static header has a name and a value that receivers take", () => {
  const [longest, most] = ["n".repeat(256), "v".repeat(8192)];
  const withHeaders = (headers: object) => faults(withUrls([{ url: "https://a.example/", headers }])).join();
  expect(withHeaders({ [longest]: most })).toBe("");
  expect(withHeaders({ [`${longest}n`]: "v" })).toMatch(/name has at most 256 characters/);
  expect(withHeaders({ n: `${most}v` })).toMatch(/value has at most 8192 characters/);
});

it.each(["line\r\nbreak", "turned \u202e around", "unseen \u200b", "\ud800", "tag \u{e0041}"])(
  "a name of a destination may not be %j",
  (name) => {
    const input = { type: "Webhooks", name, settings: { urls: [{ url: "https://a.example" }] } };
    expect(faults(input).join()).toMatch(/no character that is not seen or turns text around/);
    expect(faults({ ...input, name: "Zoë’s 👩‍👩‍👧 نام‌ها" })).toEqual([]);
  },
);

describe("a rate limit", () => {
  const limited = (rateLimitPerSecond: unknown) => ({
    type: "Webhooks",
    name: "n",
    settings: { urls: [{ url: "https://a.example" }], rateLimitPerSecond },
  });

  it.each([0.5, 50, 100_000, null])("may be %j", (value) => {
    expect(faults(limited(value))).toEqual([]);
  });

  it.each([
    ...[0, -1, 1e-9].map((value) => [value, "expected 0.001 at least, which is a request in 1,000 seconds, or null"]),
    ["50", "expected a number above 0, or null"],
    [100_001, "expected 100000 at the most"],
  ])("may not be %j", (value, reason) => {
    expect(faults(limited(value))).toEqual([`settings.rateLimitPerSecond: ${reason}`]);
  });
});
