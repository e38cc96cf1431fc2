import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { Event } from "../event/event.ts";
import { toWebhookBody } from "../routing/body.ts";
import { parseCall } from "./call.ts";
import type { CallArrival } from "./call-arrival.ts";
import { CALL_TYPES, type CallType } from "./call-schema.ts";
import { parseJson } from "./parse-json.ts";
import { shareContext, shareIntegrations } from "./shared-fields.ts";

const RECEIVED_AT_MS = Date.UTC(2026, 10, 21, 12);

const ORIGIN: CallArrival = {
  sourceId: "src",
  receivedAtMs: RECEIVED_AT_MS,
  sentAtMs: null,
  context: null,
  integrations: null,
  ip: null,
  userAgent: null,
  makeMessageId: () => "made",
};

function take(call: unknown, type: CallType | null = null, origin: Partial<CallArrival> = {}): Event {
  const parsed = parseCall(call, type, { ...ORIGIN, ...origin });
  if (!parsed.accepted) throw new Error(`refused: ${parsed.refusal.code} ${parsed.refusal.message}`);
  return parsed.event;
}

function refusal(call: unknown, type: CallType | null = null) {
  const parsed = parseCall(call, type, ORIGIN);
  if (parsed.accepted) throw new Error("the call was accepted");
  return parsed.refusal;
}

const track = (fields: object) => ({ type: "track", userId: "u", event: "E", ...fields });

describe("fields", () => {
  it("keeps each type's own fields and leaves those of other types with the rest", () => {
    const fields = {
      userId: "u",
      name: "N",
      groupId: "g",
      previousId: "p",
      event: "E",
      properties: { a: 1 },
      traits: { b: 2 },
    };
    const placed = (type: CallType) => {
      const { event, name, groupId, previousId, propertiesJson, traitsJson, restJson } = take(fields, type);
      return { event, name, groupId, previousId, propertiesJson, traitsJson, rest: parseJson(restJson ?? "{}") };
    };
    const none = { event: null, name: null, groupId: null, previousId: null, propertiesJson: null, traitsJson: null };
    const { userId: _, ...all } = fields;
    const without = (...names: string[]) =>
      Object.fromEntries(Object.entries(all).filter(([key]) => !names.includes(key)));
    expect(placed("track")).toEqual({
      ...none,
      event: "E",
      propertiesJson: `{"a":1}`,
      rest: without("event", "properties"),
    });
    expect(placed("page")).toEqual({
      ...none,
      name: "N",
      propertiesJson: `{"a":1}`,
      rest: without("name", "properties"),
    });
    expect(placed("screen")).toEqual({
      ...none,
      name: "N",
      propertiesJson: `{"a":1}`,
      rest: without("name", "properties"),
    });
    expect(placed("identify")).toEqual({ ...none, traitsJson: `{"b":2}`, rest: without("traits") });
    expect(placed("group")).toEqual({
      ...none,
      groupId: "g",
      traitsJson: `{"b":2}`,
      rest: without("groupId", "traits"),
    });
    expect(placed("alias")).toEqual({ ...none, previousId: "p", rest: without("previousId") });
  });

  it("takes a call of an anonymous visitor, which has no userId", () => {
    expect(take({ type: "page", anonymousId: "a" })).toMatchObject({ userId: null, anonymousId: "a" });
    expect(refusal({ type: "page", anonymousId: "", userId: null }).code).toBe("missing_user");
  });

  it("has an event's name of a track call alone, and a previous id of an alias alone", () => {
    const fields = { userId: "u", anonymousId: "a", event: "E", previousId: "p" };
    for (const type of CALL_TYPES) {
      const { event, previousId } = take({ ...fields, type });
      expect([event, previousId]).toEqual([type === "track" ? "E" : null, type === "alias" ? "p" : null]);
    }
  });

  it("takes null for absent, and numbers as ids", () => {
    const event = take({
      type: "group",
      anonymousId: null,
      userId: 42,
      groupId: 7,
      traits: null,
      context: null,
      messageId: null,
    });
    expect(event).toMatchObject({ userId: "42", anonymousId: null, groupId: "7", traitsJson: "{}", contextJson: "{}" });
    expect(event.messageId).toBe("made");
  });

  it("keeps the caller's messageId", () => {
    const messageId = "node-next-1763695457269-0d3c7a5e-9f1b-4c38-8a43-5d2f8b1c6e70";
    expect(take(track({ messageId })).messageId).toBe(messageId);
  });

  it("keeps what it does not know, in order, and drops the write key", () => {
    const call = track({
      writeKey: "secret",
      channel: "server",
      _metadata: { nodeVersion: "24" },
      "2": "two",
      sentAt: "then",
    });
    expect(take(call).restJson).toBe(`{"2":"two","channel":"server","_metadata":{"nodeVersion":"24"},"sentAt":"then"}`);
    expect(take(track({})).restJson).toBeNull();
  });

  it("lets the path's type stand over the call's own", () => {
    expect(take({ type: "page", userId: "u" }, "screen").type).toBe("screen");
  });

  it("takes an identify's traits from its context where it has none of its own", () => {
    const context = { traits: { plan: "P" } };
    expect(take({ type: "identify", userId: "u", context }).traitsJson).toBe(`{"plan":"P"}`);
    expect(take({ type: "identify", userId: "u", traits: { a: 1 }, context }).traitsJson).toBe(`{"a":1}`);
    expect(take({ type: "group", userId: "u", groupId: "g", context }).traitsJson).toBe("{}");
  });

  it("takes an alias of an anonymous visitor from the anonymousId", () => {
    expect(take({ type: "alias", userId: "u", anonymousId: "a" }).previousId).toBe("a");
    expect(take({ type: "alias", userId: "u", anonymousId: "a", previousId: "p" }).previousId).toBe("p");
  });

  it("writes half of a surrogate pair in a name as U+FFFD, as UTF-8 would", () => {
    expect(take(track({ event: "\udfffE" }))).toMatchObject({ event: "\ufffdE" });
  });
});

describe("the batch's envelope and the connection", () => {
  it("puts the envelope's context and integrations into each call, under the call's own", () => {
    const origin = {
      context: shareContext({ library: { name: "go" }, locale: "de" }),
      integrations: shareIntegrations({ All: false, Webhooks: true }),
    };
    const event = take(track({ context: { locale: "fr" }, integrations: { Webhooks: false } }), null, origin);
    expect(parseJson(event.contextJson)).toEqual({ library: { name: "go" }, locale: "fr" });
    expect(event.integrations).toEqual({ All: false, Webhooks: false });
  });

  it("fills in the address and the user agent that the caller left out, and no others", () => {
    const origin = { ip: "203.0.113.9", userAgent: "agent/1" };
    expect(take(track({}), null, origin).contextJson).toBe(`{"ip":"203.0.113.9","userAgent":"agent/1"}`);
    expect(take(track({ context: { ip: "10.0.0.1", a: 1 } }), null, origin).contextJson).toBe(
      `{"ip":"10.0.0.1","a":1,"userAgent":"agent/1"}`,
    );
    expect(take(track({ context: { ip: null, userAgent: "mine" } }), null, origin).contextJson).toBe(
      `{"ip":null,"userAgent":"mine"}`,
    );
  });

  it("takes an options object in integrations for true, and null for nothing said", () => {
    const integrations = { Webhooks: { retries: 1 }, Other: false, "Segment.io": true, Nothing: null };
    expect(take(track({ integrations })).integrations).toEqual({ Webhooks: true, Other: false, "Segment.io": true });
  });

  it("keeps a key __proto__ as a key and changes no prototype", () => {
    const call = parseJson(`{"type":"track","userId":"u","event":"E","__proto__":{"x":1},
      "context":{"__proto__":{"y":1}},"integrations":{"__proto__":false},"properties":{"__proto__":{"z":1}}}`);
    const event = take(call, null, {
      context: shareContext(JSON.parse(`{"__proto__":{"w":1},"a":1}`)),
    });
    expect(event.restJson).toBe(`{"__proto__":{"x":1}}`);
    expect(event.contextJson).toBe(`{"__proto__":{"y":1},"a":1}`);
    expect(event.propertiesJson).toBe(`{"__proto__":{"z":1}}`);
    expect(Object.hasOwn(event.integrations, "__proto__")).toBe(true);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe("times", () => {
  const originalTimestamp = "2026-11-21T09:00:00Z";

  it("are corrected by the envelope's sentAt, else by the call's own", () => {
    const call = track({ timestamp: originalTimestamp, sentAt: "2026-11-21T09:00:20Z" });
    expect(take(call).timestampMs).toBe(RECEIVED_AT_MS - 20_000);
    expect(take(call, null, { sentAtMs: Date.UTC(2026, 10, 21, 9, 0, 5) }).timestampMs).toBe(RECEIVED_AT_MS - 5_000);
  });

  it("come from originalTimestamp where there is no timestamp", () => {
    expect(take(track({ originalTimestamp })).timestampMs).toBe(Date.UTC(2026, 10, 21, 9));
    const timestamp = "2012-12-02T00:30:08.276Z";
    expect(take(track({ originalTimestamp, timestamp })).timestampMs).toBe(Date.parse(timestamp));
  });

  it("stay as they were given, in originalTimestamp", () => {
    expect(take(track({ timestamp: "2026-11-21T03:24:21+0000" })).restJson).toBe(
      `{"originalTimestamp":"2026-11-21T03:24:21+0000"}`,
    );
  });

  it("keep the batch's sentAt beside the call, where the call says none itself", () => {
    const sentAtMs = Date.UTC(2026, 10, 21, 9, 0, 5);
    expect(take(track({}), null, { sentAtMs }).restJson).toBe(`{"sentAt":"2026-11-21T09:00:05.000Z"}`);
    expect(take(track({ sentAt: "then" }), null, { sentAtMs }).restJson).toBe(`{"sentAt":"then"}`);
    expect(take(track({ sentAt: null }), null, { sentAtMs }).restJson).toBe(`{"sentAt":null}`);
  });

  it("are the moment of receipt where the call has none; a sentAt that cannot be read refuses nothing", () => {
    expect(take(track({ sentAt: 12 })).timestampMs).toBe(RECEIVED_AT_MS);
    expect(take(track({ timestamp: originalTimestamp, sentAt: "soon" })).timestampMs).toBe(Date.UTC(2026, 10, 21, 9));
  });
});

describe("refusals", () => {
  it.each([
    ["not_an_object", null],
    ["not_an_object", "call"],
    ["not_an_object", [track({})]],
    ["unknown_type", { userId: "u" }],
    ["unknown_type", { type: "delete", userId: "u" }],
    ["unknown_type", { type: "__proto__", userId: "u" }],
    ["missing_user", { type: "track", event: "E" }],
    ["missing_user", { type: "identify", userId: "", anonymousId: null }],
    ["missing_event", { type: "track", userId: "u" }],
    ["missing_event", track({ event: "" })],
    ["invalid_field", track({ event: 1 })],
    ["invalid_field", track({ userId: { id: 1 } })],
    ["invalid_field", track({ userId: 2 ** 60 })],
    ["invalid_field", track({ userId: "a\ud800b" })],
    ["invalid_field", track({ anonymousId: "\udfff" })],
    ["invalid_field", { type: "group", userId: "u", groupId: "\ud800" }],
    ["invalid_field", { type: "alias", userId: "u", previousId: "\ud800" }],
    ["invalid_field", track({ properties: [1] })],
    ["invalid_field", track({ context: "c" })],
    ["invalid_field", track({ integrations: true })],
    ["invalid_field", track({ messageId: "line\nbreak" })],
    ["invalid_field", track({ messageId: "x".repeat(256) })],
    ["invalid_field", track({ timestamp: 1763695457269 })],
    ["invalid_timestamp", track({ timestamp: "yesterday" })],
    ["invalid_timestamp", track({ originalTimestamp: "" })],
    ["invalid_timestamp", track({ timestamp: "2026-11-21T03:24:17Z", originalTimestamp: "AAA" })],
    ["nested_too_deep", track({ properties: parseJson(`{"a":${"[".repeat(100)}${"]".repeat(100)}}`) })],
    ["nested_too_deep", track({ context: parseJson(`{"a":${"[".repeat(9000)}${"]".repeat(9000)}}`) })],
    ["nested_too_deep", track({ unknown: parseJson(`${"[".repeat(100)}${"]".repeat(100)}`) })],
  ])("say %s", (code, call) => {
    expect(refusal(call).code).toBe(code);
  });

  it("say how to send a number that no id may be, and which message ids there are", () => {
    expect(refusal(track({ userId: 2 ** 60 })).message).toMatch(
      /up to 9007199254740991: send a longer one as a string/,
    );
    expect(refusal(track({ messageId: "line\nbreak" })).message).toMatch(/printable ASCII characters, such as a UUID/);
    expect(refusal(track({ userId: "a\ud800b" })).message).toMatch(/"userId" has half of a surrogate pair/);
  });

  it("look at no letter of a message id that is too long", () => {
    const messageId = `${"x".repeat(30_000)}€`;
    const looks = vi.spyOn(RegExp.prototype, "test");
    const looked = vi.spyOn(RegExp.prototype, "exec");
    expect(refusal(track({ messageId })).code).toBe("invalid_field");
    for (const { mock } of [looks, looked]) expect(mock.calls.filter(([text]) => text === messageId)).toEqual([]);
    vi.restoreAllMocks();
    expect(refusal(track({ messageId: "€" })).code).toBe("invalid_field");
    expect(take(track({ messageId: "x".repeat(255) })).messageId).toHaveLength(255);
  });

  it("name the field and what it must be", () => {
    expect(refusal(track({ properties: [1] })).message).toBe(`"properties" must be an object.`);
    expect(refusal(track({ userId: true })).message).toBe(
      `"userId" must be a string, or a whole number up to 9007199254740991: send a longer one as a string.`,
    );
    expect(refusal(track({ messageId: {} })).message).toBe(
      `"messageId" must be a string of at most 255 printable ASCII characters, such as a UUID.`,
    );
  });
});

describe("any JSON at all", () => {
  const json = fc.json({ maxDepth: 4 }).map((text): unknown => parseJson(text));
  const text = fc.string({ unit: "binary" });
  const object = fc.dictionary(fc.oneof(text, fc.constant("__proto__"), fc.nat(99).map(String)), json);
  const time = fc
    .date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) })
    .map((date) => date.toISOString());
  /** The valid type of each field; a call has some of them. */
  const sound = fc.record(
    {
      type: fc.constantFrom(...CALL_TYPES),
      userId: text,
      anonymousId: text,
      event: text,
      name: text,
      timestamp: time,
      properties: object,
      traits: object,
      context: object,
      integrations: object,
      7: json,
      other: object,
    },
    { requiredKeys: ["type", "userId", "event"] },
  );
  const unsound = fc.record(
    {
      type: fc.constantFrom(...CALL_TYPES),
      userId: json,
      event: json,
      messageId: json,
      timestamp: json,
      context: json,
    },
    { requiredKeys: ["type"] },
  );

  it("is refused with a code, or becomes an event whose body is a fixed point of JSON", () => {
    let accepted = 0;
    fc.assert(
      fc.property(fc.oneof(sound, unsound, json), fc.constantFrom(null, ...CALL_TYPES), (call, type) => {
        const parsed = parseCall(parseJson(JSON.stringify(call)), type, {
          ...ORIGIN,
          ip: "::1",
          userAgent: `"\u0000`,
        });
        if (!parsed.accepted) {
          expect(parsed.refusal.message).toMatch(/\.$/);
          return;
        }
        accepted++;
        const body = toWebhookBody(parsed.event);
        expect(JSON.stringify(parseJson(body))).toBe(body);
        const { restJson } = parsed.event;
        if (restJson !== null) expect(JSON.stringify(parseJson(restJson))).toBe(restJson);
      }),
      { numRuns: 1000 },
    );
    expect(accepted).toBeGreaterThan(100);
  });
});
