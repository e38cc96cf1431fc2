import { expect, it } from "vitest";
import { readSessionCookie, sessionCookie } from "./session-cookie.ts";

it("a session's cookie is for this host and port alone, out of reach of scripts and of other sites", () => {
  const origin = "http://127.0.0.1:8090";
  expect(sessionCookie("abc", { port: 8090, origin })).toBe(
    "posthaste-session-8090=abc; Path=/; HttpOnly; SameSite=Strict; Max-Age=604800",
  );
  expect(sessionCookie("abc", { port: 8090, origin: "https://posthaste.example" })).toMatch(/; Secure$/);
  expect(sessionCookie(null, { port: 8090, origin })).toContain("posthaste-session-8090=; ");
  expect(sessionCookie(null, { port: 8090, origin })).toContain("Max-Age=0");
});

it("a session's cookie is found among others, and not that of another port", () => {
  const header = "a=b; posthaste-session-80=no; posthaste-session-8090=abc; c=d";
  expect(readSessionCookie(header, 8090)).toBe("abc");
  expect([undefined, "", "a=b", "posthaste-session-8090="].map((each) => readSessionCookie(each, 8090))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
