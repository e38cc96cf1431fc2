import { expect, it } from "vitest";
import { readSessionCookie, sessionCookie } from "./session-cookie.ts";

it("a session's cookie is for this host and port alone, out of reach of scripts and of other sites", () => {
  const origin = "http://127.0.0.1:8090";
  expect(sessionCookie("abc", { port: 8090, origin })).toBe(
    "posthaste-session-8090=abc; Path=/; HttpOnly; SameSite=Strict; Max-Age=604800",
  );
  expect(sessionCookie("abc", { port: 8090, origin: "https://posthaste.example" })).toMatch(
    /^__Host-posthaste-session-8090=abc; .*; Secure$/,
  );
  expect(sessionCookie(null, { port: 8090, origin })).toContain("posthaste-session-8090=; ");
  expect(sessionCookie(null, { port: 8090, origin })).toContain("Max-Age=0");
});

const HERE = { port: 8090, origin: "http://127.0.0.1:8090" };

it("a cookie that a neighbour host planted counts neither beside ours nor, over https, for ours", () => {
  expect(readSessionCookie("posthaste-session-8090=evil; posthaste-session-8090=abc", HERE)).toBeUndefined();
  const served = { port: 8090, origin: "https://posthaste.example" };
  expect(readSessionCookie("posthaste-session-8090=evil; __Host-posthaste-session-8090=abc", served)).toBe("abc");
  expect(readSessionCookie("posthaste-session-8090=evil", served)).toBeUndefined();
});

it("a session's cookie is found among others, and not that of another port", () => {
  const header = "a=b; posthaste-session-80=no; posthaste-session-8090=abc; c=d";
  expect(readSessionCookie(header, HERE)).toBe("abc");
  expect([undefined, "", "a=b", "posthaste-session-8090="].map((each) => readSessionCookie(each, HERE))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
