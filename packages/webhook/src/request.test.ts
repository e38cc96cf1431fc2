import { describe, expect, it } from "vitest";
import { aDestination } from "../test/destination.ts";
import { deliveryHeaders, prepareDestination, shownHeaders } from "./request.ts";
import { createBodySigner } from "./sign.ts";

const BODY = Buffer.from('{"version":1}');

function headersOf(destination = aDestination(), signWith: "active" | "next" = "active"): Record<string, string> {
  const request = { destination, messageId: "message-1", attempt: 3, body: BODY };
  const list = deliveryHeaders(request, signWith, 1_700_000_000_999);
  return shownHeaders({}, list);
}

describe("prepareDestination", () => {
  it("splits a URL into its origin and all of its path and query", () => {
    const urls = [{ url: "https://user-data.example:8443/a%20b/?x=1&y=%2F#fragment", headers: {} }];
    const [target] = prepareDestination(aDestination({ urls })).targets;
    expect(target).toMatchObject({ origin: "https://user-data.example:8443", path: "/a%20b/?x=1&y=%2F" });
  });

  it.each(["not a url", "ftp://receiver.example/", "file:///etc/passwd"])("finds no origin for %s", (url) => {
    const [target] = prepareDestination(aDestination({ urls: [{ url, headers: {} }] })).targets;
    expect(target?.origin).toBeNull();
  });

  it("gives every request the fixed headers and the URL's own", () => {
    const urls = [{ url: "https://receiver.example/", headers: { Authorization: "Bearer token" } }];
    const [target] = prepareDestination(aDestination({ urls })).targets;
    expect(target?.fixedHeaders).toEqual([
      ...["User-Agent", "Posthaste/1.0", "Content-Type", "application/json"],
      ...["Authorization", "Bearer token"],
    ]);
  });

  it("makes it once for a Destination object, and anew for its successor", () => {
    const destination = aDestination();
    expect(prepareDestination(destination)).toBe(prepareDestination(destination));
    expect(prepareDestination({ ...destination })).not.toBe(prepareDestination(destination));
  });
});

describe("deliveryHeaders", () => {
  it("carries the message id and the attempt, and no signature without a secret", () => {
    expect(headersOf()).toEqual({ "X-Message-Id": "message-1", "X-Attempt": "3" });
  });

  it("signs with the active secret throughout a rotation, and with the next one when a test asks for it", () => {
    const secrets = { active: "one", next: "two", previous: "zero" };
    expect(headersOf(aDestination({ secrets }))["X-Signature"]).toBe(createBodySigner("one")(BODY));
    expect(headersOf(aDestination({ secrets }), "next")["X-Signature"]).toBe(createBodySigner("two")(BODY));
  });

  it("adds the Standard Webhooks headers where the destination opted in, beside X-Signature", () => {
    const secrets = { active: "one", next: "two", previous: null };
    const headers = headersOf(aDestination({ secrets, standardWebhooks: true }));
    expect(headers["X-Signature"]).toBe(createBodySigner("one")(BODY));
    expect(headers["webhook-id"]).toBe("message-1");
    expect(headers["webhook-timestamp"]).toBe("1700000000");
    expect(headers["webhook-signature"]).toMatch(/^v1,\S+ v1,\S+$/);
  });
});

describe("shownHeaders", () => {
  it("hides the values that the customer set and no others", () => {
    const shown = shownHeaders({ Authorization: "Bearer token" }, ["X-Attempt", "1", "Authorization", "Bearer token"]);
    expect(shown).toEqual({ "X-Attempt": "1", Authorization: "***" });
  });
});
