/** Verdicts on refused requests, on purged events, and on events with too few or too many log entries. */
import type { RefusedRequest, SourceActivity } from "@posthaste/core/call/source-activity";
import { shortName } from "@posthaste/core/routing/short-name";
import { attemptAt, createLogWriter, deadLetterAt, type LogWriter, momentOf } from "@posthaste/testbed/log-writer";
import { eventually } from "@posthaste/testkit/eventually";
import { beforeAll, describe, expect, it } from "vitest";
import { control, topics, useControl } from "./use-control.ts";

const LONG_ID = `long-${"x".repeat(400)}`;

let writer: LogWriter;
let sourceId: string;

const refusal = (at: number, differing: Partial<RefusedRequest>): RefusedRequest => ({
  ...{ atMs: Date.parse(momentOf(at)), status: 413, code: "request_too_large", path: "/v1/batch", bytes: 7_000_000 },
  ...{ userAgent: "test", messageIds: [], unknownKey: null },
  ...differing,
});
const activity = (of: string, differing: Partial<SourceActivity>): SourceActivity => ({
  ...{
    sourceId: of,
    instance: "one",
    sinceMs: Date.parse(momentOf(0)),
    untilMs: Date.parse(momentOf(10)),
    accepted: 0,
  },
  ...{ lastAcceptedMs: null, rejected: {}, refused: {}, samples: [] },
  ...differing,
});

useControl();

beforeAll(async () => {
  writer = await createLogWriter(topics);
  sourceId = (await control.call("POST", "/v1/sources", { name: "Shop", kind: "server" })).body.id;
  await writer.activity(
    activity(sourceId, {
      refused: { request_too_large: 3, too_many_requests: 2 },
      samples: [
        // Ingest shortens the message ids in its report.
        refusal(2, { messageIds: ["too-large", "beside-it", shortName(LONG_ID)] }),
        refusal(3, { status: 429, code: "too_many_requests", messageIds: ["sent-again"] }),
        refusal(8, { status: 429, code: "too_many_requests", messageIds: ["taken-before"] }),
      ],
    }),
  );
  const unknownKey = "abcd… 0123456789";
  const samples = [refusal(4, { status: 401, code: "unknown_write_key", messageIds: ["whose"], unknownKey })];
  await writer.activity(activity("unknown", { refused: { unknown_write_key: 1 }, samples }));
  await writer.attempts([
    attemptAt(5, { messageId: "sent-again", sourceId }),
    attemptAt(6, { messageId: "taken-before", sourceId }),
    attemptAt(7, {
      ...{ messageId: "of-earlier-release", sourceId, receivedAtMs: null, outcome: "retryable", followUps: [] },
      urls: [{ url: "https://a.example/hook", status: 503, error: null, durationMs: 5, answer: null }],
    }),
  ]);
  await writer.deadLetters([deadLetterAt(3, { messageId: "purged", sourceId })]);
  await writer.attempts(Array.from({ length: 501 }, () => attemptAt(1, { messageId: "endless", sourceId })));
});

const verdictOn = async (messageId: string, query = "") => {
  const { status, body } = await control.call("GET", `/v1/events/${encodeURIComponent(messageId)}${query}`);
  expect(status).toBe(200);
  return body;
};
const knownVerdictOn = (messageId: string) =>
  eventually(async () => {
    const verdict = await verdictOn(messageId);
    expect(verdict.events.length).toBeGreaterThan(0);
    return verdict;
  });

describe("a request that was refused as a whole", () => {
  it.each(["too-large", "beside-it", LONG_ID])(
    "is told of every message id that it named, and what to change",
    async (id) => {
      const { cause, sentence, events } = await knownVerdictOn(id);
      expect(cause).toBe("refused");
      expect(sentence).toBe(
        `Not accepted: the whole request of "Shop" was answered 413 request_too_large at ${momentOf(2)}. ` +
          "Send batches of at most 512,000 bytes after decompression, with less context and fewer integrations.",
      );
      expect(events).toMatchObject([{ sourceId, cause: "refused", origin: null, receivedAt: momentOf(2) }]);
    },
  );

  it("is told of a sender whose key no source has", async () => {
    const { sentence, command, events } = await knownVerdictOn("whose");
    expect(sentence).toContain("of a sender without a known key (abcd… 0123456789) was answered 401 unknown_write_key");
    expect([command, events[0].sourceId]).toEqual(["posthaste sources list", "unknown"]);
  });

  it("counts for nothing once the source sent it again, and for what it is where it came afterwards", async () => {
    await eventually(async () => {
      const { cause, events } = await verdictOn("sent-again");
      expect([cause, events.length]).toEqual(["delivered", 1]);
    });
    const { cause, events } = await eventually(async () => {
      const verdict = await verdictOn("taken-before");
      expect(verdict.events).toHaveLength(2);
      return verdict;
    });
    expect([cause, ...events.map((each: { cause: string }) => each.cause)]).toEqual([
      "refused",
      "refused",
      "delivered",
    ]);
  });

  it("is counted where nothing is known of an event of the source", async () => {
    const { cause, sentence } = await verdictOn("never-sent", `?sourceId=${sourceId}`);
    expect(cause).toBe("unknown");
    expect(sentence).toContain(
      ` Since ${momentOf(0)} ingest refused requests of the source as a whole: ` +
        "request_too_large 3 times, too_many_requests 2 times.",
    );
    expect((await verdictOn("never-sent")).sentence).not.toContain("refused");
    expect((await verdictOn("never-sent", "?sourceId=src_none")).sentence).not.toContain("refused");
  });
});

describe("a verdict", () => {
  it("says that a dead letter was purged, and no longer how it is sent again", async () => {
    const before = await knownVerdictOn("purged");
    expect(before.command).toMatch(/^posthaste dead-letters replay --places /);
    const counted = { messageIds: ["purged"], dryRun: true };
    const { plan } = (await control.call("POST", "/v1/dead-letters/purge", counted)).body;
    const purge = await control.call("POST", "/v1/dead-letters/purge", { plan });
    expect([purge.status, purge.body.matched]).toEqual([202, 1]);
    await eventually(async () => {
      const { cause, sentence, command, events } = await verdictOn("purged");
      expect([cause, command]).toEqual(["dead_letter", null]);
      expect(sentence).toMatch(/window expired .*; its dead letter was purged\.$/);
      expect(events[0]).toMatchObject({ userKey: "user-7", destinations: [{ place: null, tries: 3 }] });
    });
  });

  it("says the last attempt of a delivery where the log does not say what followed", async () => {
    const { cause, sentence } = await knownVerdictOn("of-earlier-release");
    expect(cause).toBe("unknown");
    expect(sentence).toBe(
      `Not known to be delivered to dst_1: try 1 at ${momentOf(7)} came to retryable (https://a.example/hook answered 503), ` +
        "and the log does not say what followed.",
    );
  });

  it("says that it looked at the newest entries alone where there are too many", async () => {
    await eventually(async () => expect(await verdictOn("endless")).toMatchObject({ cut: true, cause: "delivered" }));
    expect((await verdictOn("purged")).cut).toBe(false);
  });
});
