import { REQUEST_ERRORS } from "@posthaste/core/delivery/outcome";
import { errors } from "undici";
import { describe, expect, it } from "vitest";
import { isConnectionLost, SendError, toRequestError } from "./errors.ts";

function withCode(code: string): Error {
  return Object.assign(new Error(code), { code });
}

describe("toRequestError", () => {
  it.each([
    ["ECONNREFUSED", "connection_refused"],
    ["ECONNRESET", "connection_reset"],
    ["EPIPE", "connection_reset"],
    ["ETIMEDOUT", "timeout"],
    ["EHOSTUNREACH", "connection_failed"],
    ["ENETUNREACH", "connection_failed"],
    ["EMFILE", "connection_failed"],
    ["E_NEW_AND_UNKNOWN", "other"],
  ] as const)("maps %s to %s", (code, error) => {
    expect(toRequestError(withCode(code))).toBe(error);
  });

  it.each([
    [new errors.SocketError("closed"), "connection_reset"],
    [new errors.ConnectTimeoutError(), "timeout"],
    [new errors.HeadersTimeoutError(), "timeout"],
    [new errors.HeadersOverflowError(), "bad_response"],
    [new errors.HTTPParserError("not HTTP"), "bad_response"],
    [new errors.ResponseContentLengthMismatchError(), "bad_response"],
    [new errors.InvalidArgumentError(), "invalid_request"],
    [new errors.ClientDestroyedError(), "shutting_down"],
  ] as const)("maps undici's %s", (reason, error) => {
    expect(toRequestError(reason)).toBe(error);
  });

  it.each([null, undefined, "text", {}, new Error("no code"), Object.assign(new Error("number"), { code: 5 })])(
    "calls anything without a code other: %j",
    (reason) => {
      expect(toRequestError(reason)).toBe("other");
    },
  );

  it("answers nothing outside the closed list", () => {
    const codes = ["ECONNRESET", "UND_ERR_INFO", "CERT_HAS_EXPIRED", ""];
    for (const code of codes) expect(REQUEST_ERRORS).toContain(toRequestError(withCode(code)));
  });
});

describe("isConnectionLost", () => {
  it("holds when the connection ended under the request, and not for what another connection could not mend", () => {
    expect(isConnectionLost(withCode("ECONNRESET"))).toBe(true);
    expect(isConnectionLost(new errors.SocketError("other side closed"))).toBe(true);
    expect(isConnectionLost(withCode("ECONNREFUSED"))).toBe(false);
    expect(isConnectionLost(new SendError("POSTHASTE_TIMED_OUT", ""))).toBe(false);
  });
});
