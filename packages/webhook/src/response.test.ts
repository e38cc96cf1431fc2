import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aDestination } from "../test/destination.ts";
import { secretForms, toAnswer } from "./response.ts";

const destination = aDestination({
  secrets: { active: "active-secret", next: "next-secret", previous: 'quoted "secret"' },
  urls: [
    { url: "https://one.example/", headers: { Authorization: "Bearer token-of-one", "X-Env": "dev" } },
    { url: "https://two.example/", headers: { "X-Api-Key": "key & value" } },
  ],
});
const secrets = secretForms(destination);

function answer(text: string, limit = 1_000): string | null {
  return toAnswer([Buffer.from(text)], secrets, limit);
}

describe("toAnswer", () => {
  it("is null for an empty body", () => {
    expect(toAnswer([], secrets, 10)).toBeNull();
    expect(answer("")).toBeNull();
  });

  it("joins chunks that cut a character in two", () => {
    const bytes = Buffer.from("grün");
    expect(toAnswer([bytes.subarray(0, 3), bytes.subarray(3)], secrets, 10)).toBe("grün");
  });

  it.each([
    ["the active secret", "got active-secret", "got ***"],
    ["the next secret", "got next-secret", "got ***"],
    ["the secret kept for undo, escaped as JSON", JSON.stringify({ secret: 'quoted "secret"' }), '{"secret":"***"}'],
    ["a static header's value", "Authorization: Bearer token-of-one", "Authorization: ***"],
    ["the token without its scheme", "token=token-of-one", "token=***"],
    ["the value of another URL's header", "key & value", "***"],
    ["a value that was percent-encoded", "?key=key%20%26%20value", "?key=***"],
  ])("masks %s", (_what, text, masked) => {
    expect(answer(text)).toBe(masked);
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
});
