import { describe, expect, it } from "vitest";
import { DEAD_LETTER_REASONS, type DeadUrl, NOT_ATTEMPTED, REASON_CLASSES, URL_REMOVED } from "./dead-letter.ts";
import { REQUEST_ERRORS } from "./outcome.ts";
import { reasonClassOf } from "./reason-class.ts";

const answered = (status: number): DeadUrl => ({ url: "u", status, error: null, durationMs: 1 });
const failed = (error: string): DeadUrl => ({ url: "u", status: null, error, durationMs: 1 });
const expired = (...lastAttempt: readonly DeadUrl[]) =>
  reasonClassOf({ reason: "window_expired", lastAttempt, history: [] });
const rejected = (...lastAttempt: readonly DeadUrl[]) =>
  reasonClassOf({ reason: "rejected_by_receiver", lastAttempt, history: [] });

describe("the class of a dead letter's reason", () => {
  it.each(["destination_disabled", "destination_removed", "address_refused", "suppressed"] as const)(
    "%s is of the configuration, whatever was answered before",
    (reason) => {
      expect(reasonClassOf({ reason, lastAttempt: [answered(503)], history: [] })).toBe("configuration");
    },
  );

  it("is the receiver's where the receiver fails or refuses what it was sent", () => {
    expect([500, 503, 408, 429].map((status) => expired(answered(status)))).toEqual(Array(4).fill("receiver"));
    expect([400, 409, 422].map((status) => rejected(answered(status)))).toEqual(Array(3).fill("receiver"));
  });

  it("is the configuration's where the receiver refuses the address or who sends", () => {
    const statuses = [301, 302, 308, 401, 403, 404, 405, 410];
    expect(statuses.map((status) => rejected(answered(status)))).toEqual(statuses.map(() => "configuration"));
  });

  it("is Posthaste's own where it gave the request up or never sent it, and the receiver's otherwise", () => {
    const classes = Object.fromEntries(REQUEST_ERRORS.map((error) => [error, expired(failed(error))]));
    expect(classes).toEqual({
      ...Object.fromEntries(REQUEST_ERRORS.map((error) => [error, "receiver"])),
      ...{ shutting_down: "pipeline", other: "pipeline" },
      ...{ address_refused: "configuration", invalid_request: "configuration" },
    });
    expect(expired()).toBe("pipeline");
  });

  it("of several URLs is that of one that fails at its receiver, then that of one that is wrong here", () => {
    expect(expired(failed("other"), answered(404), answered(503))).toBe("receiver");
    expect(expired(failed("other"), answered(404))).toBe("configuration");
  });

  it("is that of the last attempt that called a URL where the one that ended it called none", () => {
    const history = [{ attempt: 1, replayId: null, startedAtMs: 1, urls: [answered(503)] }];
    for (const lastAttempt of [[], [failed(NOT_ATTEMPTED), failed(URL_REMOVED)]]) {
      expect(reasonClassOf({ reason: "window_expired", lastAttempt, history })).toBe("receiver");
    }
  });

  it("is known for every reason", () => {
    for (const reason of DEAD_LETTER_REASONS) {
      expect(REASON_CLASSES).toContain(reasonClassOf({ reason, lastAttempt: [], history: [] }));
    }
  });
});
