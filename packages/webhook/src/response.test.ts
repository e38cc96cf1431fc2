import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aDestination } from "../test/destination.ts";
import { secretForms, toAnswer } from "./response.ts";

const destination = aDestination({
  secrets: { active: "active-secret", next: "next-secret", previous: 'quoted "secret"' },
  urls: [
    { url: "https://one.example/", headers: { Authorization: "Bearer token-of-one", "X-Env": "dev" } },
    { url: "https://two.example/", headers: { "X-Api-Key": "key & value" } },
    { url: "https://three.example/", headers: { "X-Path": "a/<grün>+b" } },
    { url: "https://four.example/", headers: { Authorization: `Basic ${btoa("ada:pass word")}` } },
  ],
});
const secrets = secretForms(destination);

/** The encodings of a text that a receiver may write. */
const ENCODERS: readonly ((text: string) => string)[] = [
  (text) => JSON.stringify(text).slice(1, -1),
  (text) => text.replaceAll(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  (text) => text.replaceAll(/./gsu, (character) => `&#${character.codePointAt(0)};`),
  (text) => text.replaceAll(/./gsu, (character) => `&#x${character.codePointAt(0)?.toString(16).toUpperCase()};`),
  encodeURIComponent,
  (text) => encodeURIComponent(text).replaceAll(/%../g, (byte) => byte.toLowerCase()),
  (text) => new URLSearchParams({ "": text }).toString().slice(1),
];

function answer(text: string, limit = 1_000): string | null {
  return toAnswer({ bytes: Buffer.from(text), isCut: false }, secrets, limit);
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("toAnswer", () => {
  it("is null for an empty body", () => {
    expect(toAnswer({ bytes: null, isCut: false }, secrets, 10)).toBeNull();
    expect(answer("")).toBeNull();
  });

  it.each([
    ["the active secret", "got active-secret", "got ***"],
    ["the next secret", "got next-secret", "got ***"],
    ["the secret kept for undo, escaped as JSON", JSON.stringify({ secret: 'quoted "secret"' }), '{"secret":"***"}'],
    ["a static header's value", "Authorization: Bearer token-of-one", "Authorization: ***"],
    ["the token without its scheme", "token=token-of-one", "token=***"],
    ["the value of another URL's header", "key & value", "***"],
    ["a value that was percent-encoded", "?key=key%20%26%20value", "?key=***"],
    ["a form's value", "key=key+%26+value&a=b", "key=***&a=b"],
    ["a percent-encoded value in lower case", "p=a%2f%3cgr%c3%bcn%3e%2bb.", "p=***."],
    ["a percent-encoded value in upper case", "p=a%2F%3Cgr%C3%BCn%3E%2Bb.", "p=***."],
    ["a slash that JSON escaped", String.raw`{"path":"a\/<grün>+b"}`, '{"path":"***"}'],
    ["characters by their number in JSON", String.raw`"a\/\u003cgr\u00FCn\u003E+b"`, '"***"'],
    ["HTML entities", "<p>a&#x2F;&lt;gr&#252;n&gt;+b</p>", "<p>***</p>"],
    ["encodings that are mixed", String.raw`a\/&lt;gr%c3%BCn\u003e+b`, "***"],
    ["base64 by itself", `secret ${btoa("active-secret")}.`, "secret ***."],
    ["base64 for URLs", Buffer.from("a/<grün>+b").toString("base64url"), "***"],
    ["base64 in JSON that escapes slashes", Buffer.from("a/<grün>+b").toString("base64").replaceAll("/", "\\/"), "***"],
    ["the decoded pair of Basic", '{"user":"ada:pass word"}', '{"user":"***"}'],
    ["the password of the pair", "wrong password: pass%20word", "wrong password: ***"],
    ["a secret beside an entity that stands for nothing", "&#9999999; active&#45;secret &amp;", "&#9999999; *** &amp;"],
  ])("masks %s", (_what, text, masked) => {
    expect(answer(text)).toBe(masked);
  });

  it.each([
    [0, 0, 17],
    [1, 2, 18],
    [2, 3, 20],
  ])(
    "masks what begins %i bytes into a base64 text, but for what it shares with its neighbours",
    (before, from, to) => {
      const text = btoa(`${"x".repeat(before)}active-secret, and more`);
      expect(answer(text)).toBe(`${text.slice(0, from)}***${text.slice(to)}`);
    },
  );

  it("leaves what is encoded and no secret as it was", () => {
    const text = String.raw`{"a\/b":"\u003cgrün\u003e","c":"1 &lt; 2 &amp; 100%25 &#9999999; %c3 + \\"}`;
    expect(answer(text)).toBe(text);
  });

  it("masks the whole of an escaped secret where its end is a secret, or the escape is all before", () => {
    const masked = (secret: string, password: string) => {
      const headers = { Authorization: `Basic ${btoa(`name:${password}`)}` };
      const secrets = { active: secret, next: null, previous: null };
      const text = `[${JSON.stringify(secret).slice(1, -1)}]`;
      return toAnswer(
        { bytes: Buffer.from(text), isCut: false },
        secretForms(aDestination({ secrets, urls: [{ url: "https://one.example/", headers }] })),
        10_000,
      );
    };
    expect(masked('"       ', "another")).toBe("[***]");
    expect(masked('first"second', "second")).toBe("[***]");
  });

  it("masks any secret of any characters in every encoding, and nothing around it", () => {
    const text = fc.string({ minLength: 8, unit: "grapheme" });
    fc.assert(
      fc.property(text, fc.constantFrom(...ENCODERS), (secret, encode) => {
        const forms = secretForms(aDestination({ secrets: { active: secret, next: null, previous: null } }));
        const bytes = Buffer.from(`[${encode(secret)}]`);
        expect(toAnswer({ bytes, isCut: false }, forms, 10_000)).toBe("[***]");
      }),
    );
  });

  it("leaves values alone that are too short to be secrets", () => {
    expect(answer("developer")).toBe("developer");
  });

  it("leaves no part of a secret at the cut", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40 }), (limit) => {
        const shown = answer("0123456789active-secret0123456789", limit) ?? "";
        expect(shown.length).toBeLessThanOrEqual(limit);
        expect(shown).not.toMatch(/[a-z]/);
      }),
    );
  });

  it("shows nothing of a secret that a cut of the body went through, in any encoding and at any byte", () => {
    const text = fc.string({ minLength: 8, unit: "grapheme" });
    const encoder = fc.constantFrom(...ENCODERS, (plain: string) => plain, base64);
    fc.assert(
      fc.property(text, encoder, fc.nat(), (secret, encode, at) => {
        const forms = secretForms(aDestination({ secrets: { active: secret, next: null, previous: null } }));
        const whole = Buffer.from(`[${encode(secret)}`);
        const bytes = whole.subarray(0, 1 + (at % (whole.length - 1)));
        expect(toAnswer({ bytes, isCut: true }, forms, 10_000)).toMatch(/^\[(\*\*\*)?$/);
      }),
    );
  });

  it("shows the end of a cut body that begins no secret", () => {
    const bytes = Buffer.from("an answer without its end.");
    expect(toAnswer({ bytes, isCut: true }, secrets, 1_000)).toBe("an answer without its end.");
  });
});
