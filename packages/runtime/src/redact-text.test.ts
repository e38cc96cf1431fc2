import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redactText } from "./redact-text.ts";

describe("a text", () => {
  it.each([
    ["http://user:hunter2@registry:8081/apis", "http://***@registry:8081/apis"],
    [
      "connect postgres://u:hunter2@db:5432 and amqp://u:hunter2@mq",
      "connect postgres://***@db:5432 and amqp://***@mq",
    ],
    ["https://hunter2@host", "https://***@host"],
    ["no URL: http://user:hun/ter2@host", "no URL: http://***@host"],
    ["no URL: http://user:hun?t#er\\2@host/", "no URL: http://***@host/"],
    ["http://user:h@unter2@host/", "http://***@host/"],
    ['{"url":"http://user:hunter2@host/"}', '{"url":"http://***@host/"}'],
    ["https://[:]#:hunter2@host", "https://***@host"],
    ["https:///user:hunter2@host", "https://***@host"],
    ["kafka://[::1]:9092,http://u:hunter2@host", "kafka://***@host"],
  ])("%s: has no user part of a URL", (text, expected) => {
    expect(redactText(text)).toBe(expected);
  });

  it.each([
    ["password=hunter2", "password=***"],
    ["SASL_PASSWORD: hunter2, next", "SASL_PASSWORD: ***, next"],
    ['{"sharedSecret":"hunter2 and \\" more","a":1}', '{"sharedSecret":***","a":1}'],
    ['{\\"writeKey\\": \\"hunter2\\"}', '{\\"writeKey\\": ***\\"}'],
    ['jaas username="u" password="hunter2 more";', 'jaas username="u" password=***";'],
    ["authorization: Basic aHVudGVyMg==", "authorization: ***"],
    ["sent with Bearer hunter2.hunter2", "sent with Bearer ***"],
    ["GET /?access_token=hunter2&x=1", "GET /?access_token=***&x=1"],
    ["x-api-key: hunter2", "x-api-key: ***"],
  ])("%s: has no value of a secret's name", (text, expected) => {
    expect(redactText(text)).toBe(expected);
  });

  it.each([
    "https://a.example:8443/users/@joe?mail=joe@b.example",
    "http://[::1]:8080/@a",
    "mail to joe@a.example",
    "no rights on topic posthaste.events@1 at http://registry:8081",
    "the secret is not known; the token has expired: log in again",
    "key 17 of 20 keys",
  ])("%s: that holds none stays as it is", (text) => {
    expect(redactText(text)).toBe(text);
  });

  it("is cut when it is long, and not inside a URL whose end would tell that it has a user part", () => {
    const long = `${"x ".repeat(45)}http://user:hunter2hunter2@host/path`;
    for (let length = 80; length < long.length; length++) {
      const cut = redactText(long, length);
      expect(cut).not.toContain("user");
      expect(cut).toMatch(/… \(\d+ more characters\)$/);
      expect(cut.length).toBeLessThan(length + 30);
    }
    expect(redactText("x".repeat(10_000))).toBe(`${"x".repeat(8192)}… (1808 more characters)`);
  });

  it("is cut outside the words behind an HTTP scheme, which are too few to be masked", () => {
    const long = `${"x ".repeat(10)}sent with Bearer hunter2.hunter2 and more`;
    for (let length = 0; length < long.length; length++) expect(redactText(long, length)).not.toContain("hu");
  });

  it("never shows a password of a URL, whatever stands in it and around it", () => {
    const part = fc.string({ unit: fc.constantFrom(..."ab1:/?#@%.\\'\"&=;,[]-"), maxLength: 8 });
    fc.assert(
      fc.property(part, part, fc.string(), fc.constantFrom("", "/", "/p@th", ":80/"), (user, tail, before, path) => {
        const url = `https://${user}:hunter2${tail}@a.example${path}`;
        // Not where the user name reads as a host, with the password in the path: a parser finds no user part there
        // either.
        fc.pre(!URL.canParse(url) || new URL(url).password !== "" || new URL(url).username !== "");
        expect(redactText(`${before} ${url}`)).not.toContain("hunter2");
      }),
      { numRuns: 2_000 },
    );
  });
});
