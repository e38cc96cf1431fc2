import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redact } from "./redact.ts";

const SECRET = "hunter2";
const shown = (fields: object): string => JSON.stringify(redact(fields));

/** The value inside `levels` objects and lists, one in another. */
function wrap(value: unknown, levels: number): Record<string, unknown> {
  let wrapped: unknown = value;
  for (let level = 1; level < levels; level++) wrapped = level % 2 === 0 ? [wrapped] : { inner: wrapped };
  return { outer: wrapped };
}

describe("fields of a line", () => {
  it("RD1: are masked under the name of a secret, at every depth that is written", () => {
    for (let levels = 1; levels <= 12; levels++) {
      expect(shown(wrap({ sharedSecret: SECRET }, levels))).not.toContain(SECRET);
    }
    expect(redact(wrap({ sharedSecret: SECRET, attempt: 3 }, 3))).toEqual({
      outer: [{ inner: { sharedSecret: "***", attempt: 3 } }],
    });
  });

  it.each([
    ...["authorization", "Proxy-Authorization", "password", "SASL_PASSWORD", "passwd", "sslPassphrase", "clientSecret"],
    ...["accessToken", "set-cookie", "credentials", "X-Signature", "apiKey", "x-api-key", "privateKey", "writeKeys"],
    ...["POSTHASTE_SECRET_KEYS", "key", "auth", "body", "headers", "rawHeaders"],
  ])("RD1: are masked under %s, whatever stands there", (name) => {
    for (const value of [SECRET, [SECRET], { of: SECRET }, Buffer.from(SECRET), 4711]) {
      expect(redact({ [name]: value })).toEqual({ [name]: "***" });
    }
    expect(redact({ [name]: null, also: { [name]: true } })).toEqual({ [name]: null, also: { [name]: true } });
  });

  it("RD1: that hold no secret are written as JSON writes them", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[b-d]{1,6}$/), fc.jsonValue({ maxDepth: 5 })), (fields) => {
        // A name that jsonValue makes may by chance be one of a secret's.
        fc.pre(!/key|auth|pass|pwd|body/i.test(JSON.stringify(fields)));
        expect(shown(fields)).toBe(JSON.stringify(fields));
      }),
    );
    expect(shown(JSON.parse('{"b":{"__proto__":"c"}}'))).toBe('{"b":{"__proto__":"c"}}');
    const at = new Date(0);
    expect(
      redact({ at, url: new URL("http://u:p@host/"), size: 10n, bytes: Buffer.from("abc"), left: undefined }),
    ).toEqual({ at: at.toISOString(), url: "http://***@host/", size: "10", bytes: "[3 bytes]", left: undefined });
  });

  it("RD2: show errors wherever they stand, with causes and the errors of an AggregateError, without secrets", () => {
    const root = new Error(`connect http://user:${SECRET}@registry:8081 failed`);
    const wrapped = new TypeError("asking failed", { cause: root });
    const all = new AggregateError(
      [wrapped, Object.assign(new Error("b"), { config: { headers: { a: SECRET } } })],
      "all",
    );
    const copy = redact({ error: new Error("last", { cause: { why: [all] } }) });
    expect(copy).toMatchObject({
      error: {
        ...{ type: "Error", message: "last", stack: expect.stringContaining("redact.test.ts") },
        cause: {
          why: [
            {
              type: "AggregateError",
              aggregateErrors: [
                { type: "TypeError", cause: { message: "connect http://***@registry:8081 failed" } },
                { message: "b", config: { headers: "***" } },
              ],
            },
          ],
        },
      },
    });
    expect(JSON.stringify(copy)).not.toContain(SECRET);
  });

  it("RD2: show the input of a URL that cannot be read without its password", () => {
    let refused: unknown;
    try {
      new URL(`http://user:${SECRET}/x@registry:port`);
    } catch (error) {
      refused = error;
    }
    const copy = redact({ err: refused });
    expect(copy).toMatchObject({ err: { code: "ERR_INVALID_URL", input: "http://***@registry:port" } });
    expect(JSON.stringify(copy)).not.toContain(SECRET);
  });

  it("RD3: are bounded, however deep, wide or long they are", () => {
    let deep: object = { sharedSecret: SECRET };
    for (let level = 0; level < 100_000; level++) deep = { deep };
    const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`f${index}`, index]));
    const list = Array.from({ length: 100_000 }, () => "x".repeat(500));
    const long = Array.from({ length: 50 }, () => "x".repeat(100_000));
    for (const fields of [{ deep }, { wide }, wide, { list }, { long }]) {
      expect(shown(fields).length).toBeLessThan(100_000);
    }
    expect(shown({ deep })).toContain("[too deep]");
    expect(redact({ wide })).toMatchObject({ wide: { f0: 0, "…": "[99501 more]" } });
    expect(shown({ list })).toContain("more]");
    expect(shown({ long })).toContain("[too long]");
  });

  it("RD4: never throw, and say what could not be read", () => {
    const circle: Record<string, unknown> = { name: "circle" };
    circle["self"] = [circle];
    const fails = (): never => {
      throw new Error(SECRET);
    };
    const hostile = {
      circle,
      proxy: new Proxy({}, { ownKeys: fails }),
      json: { toJSON: fails },
      get getter() {
        return fails();
      },
      call: fails,
      sign: Symbol("s"),
      frozen: Object.freeze(new Error("frozen")),
      twice: [circle, circle],
    };
    expect(redact(hostile)).toMatchObject({
      circle: { name: "circle", self: ["[circular]"] },
      ...{ proxy: "[unreadable]", json: "[unreadable]", getter: "[unreadable]", call: undefined, sign: undefined },
      frozen: { message: "frozen" },
      // Beside itself and not inside: no circle.
      twice: [{ name: "circle" }, { name: "circle" }],
    });
    expect(redact(new Proxy({}, { ownKeys: fails }))).toEqual({ fields: "[unreadable]" });
  });
});
