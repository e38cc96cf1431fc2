import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJson } from "../call/parse-json.ts";
import { PAYLOADS } from "../config/destination.ts";
import { EVENT_TYPES, type Event } from "../event/event.ts";
import { toWebhookBody } from "./body.ts";

const base: Event = {
  messageId: "m1",
  sourceId: "s1",
  type: "track",
  userId: "u1",
  anonymousId: null,
  timestampMs: Date.parse("2020-01-02T03:04:05.678Z"),
  receivedAtMs: 0,
  integrations: {},
  event: null,
  name: null,
  groupId: null,
  previousId: null,
  propertiesJson: null,
  traitsJson: null,
  contextJson: '{"ip":"1.2.3.4"}',
  restJson: '{"category":"c","channel":"server"}',
};
const TIME = '"timestamp":"2020-01-02T03:04:05.678Z"';
const CONTEXT = '"context":{"ip":"1.2.3.4"}';

describe("the body of each type has exactly the keys of product.md, in this order", () => {
  it.each<[string, Partial<Event>, string]>([
    [
      "page",
      { type: "page", name: "Home", propertiesJson: '{"path":"/p"}' },
      `{"version":1,"type":"page","userId":"u1","properties":{"path":"/p"},${TIME},${CONTEXT}}`,
    ],
    [
      "screen",
      { type: "screen", name: "S", propertiesJson: '{"a":1}' },
      `{"version":1,"type":"screen","userId":"u1","name":"S",${TIME},${CONTEXT}}`,
    ],
    [
      "identify",
      { type: "identify", traitsJson: '{"plan":"P","count":29}' },
      `{"version":1,"type":"identify","userId":"u1","traits":{"plan":"P","count":29},${TIME},${CONTEXT}}`,
    ],
    [
      "track",
      { type: "track", event: "E", propertiesJson: '{"revenue":"39.95"}' },
      `{"version":1,"type":"track","userId":"u1","event":"E","properties":{"revenue":"39.95"},${TIME},${CONTEXT}}`,
    ],
    [
      "alias",
      { type: "alias", previousId: "u0" },
      `{"version":1,"type":"alias","Previous ID":"u0","User ID":"u1",${TIME},${CONTEXT}}`,
    ],
    [
      "group",
      { type: "group", groupId: "g1", traitsJson: '{"spaced key":8}' },
      `{"version":1,"type":"group","groupId":"g1","userId":"u1","traits":{"spaced key":8},${TIME},${CONTEXT}}`,
    ],
    ["delete", { type: "delete" }, `{"type":"delete","userId":"u1",${TIME}}`],
  ])("%s", (_type, fields, body) => {
    expect(toWebhookBody({ ...base, ...fields })).toBe(body);
  });
});

it("a call without a userId has a null userId, and an anonymousId that came stays", () => {
  const anonymous: Event = { ...base, userId: null, anonymousId: "a1", event: "E", propertiesJson: "{}" };
  expect(toWebhookBody(anonymous)).toBe(
    `{"version":1,"type":"track","userId":null,"anonymousId":"a1","event":"E","properties":{},${TIME},${CONTEXT}}`,
  );
  expect(toWebhookBody({ ...anonymous, type: "alias", userId: "u1", previousId: "u0" })).toContain(
    '"Previous ID":"u0","User ID":"u1","anonymousId":"a1"',
  );
  expect(toWebhookBody({ ...anonymous, type: "delete", userId: "u1" })).not.toContain("anonymousId");
});

it("a field that the call did not have is null, an object empty, so that a type's keys are always the same", () => {
  expect(parseJson(toWebhookBody({ ...base, type: "screen" }))).toMatchObject({ name: null });
  expect(parseJson(toWebhookBody({ ...base, type: "page" }))).toMatchObject({ properties: {} });
  expect(parseJson(toWebhookBody({ ...base, type: "group" }))).toMatchObject({ groupId: null, traits: {} });
});

describe("the full body", () => {
  const call = '"messageId":"m1","receivedAt":"1970-01-01T00:00:00.000Z","sentAt":null,"originalTimestamp":null';
  const end = `${call},"integrations":{}}`;

  it.each<[Event["type"], Partial<Event>, string]>([
    ["page", { name: "Home" }, `,"name":"Home","category":"c",${end}`],
    ["page", { name: null, restJson: null }, `,"name":null,"category":null,${end}`],
    ["screen", { name: "S", propertiesJson: '{"a":1}' }, `,"properties":{"a":1},"category":"c",${end}`],
    ["screen", { restJson: null }, `,"properties":{},"category":null,${end}`],
    ["identify", {}, `,${end}`],
    ["track", { event: "E" }, `,${end}`],
    ["alias", { previousId: "u0" }, `,${end}`],
    ["group", { groupId: "g1" }, `,${end}`],
  ])("of %s is the documented one with what the call had besides behind it", (type, fields, besides) => {
    const event: Event = { ...base, type, ...fields };
    expect(toWebhookBody(event, "full")).toBe(`${toWebhookBody(event).slice(0, -1)}${besides}`);
  });

  it("has the call's times as it gave them, its integrations, and no other field of it", () => {
    const restJson = '{"channel":"web","sentAt":{"odd":1},"category":["x"],"originalTimestamp":"2020-01-02"}';
    const event: Event = { ...base, type: "page", restJson, integrations: { All: false, Webhooks: true } };
    expect(parseJson(toWebhookBody(event, "full"))).toMatchObject({
      ...{ sentAt: { odd: 1 }, originalTimestamp: "2020-01-02", category: ["x"] },
      integrations: { All: false, Webhooks: true },
    });
    expect(toWebhookBody(event, "full")).not.toContain("channel");
  });

  it("of a deletion's notification is the documented one", () => {
    const event: Event = { ...base, type: "delete" };
    expect(toWebhookBody(event, "full")).toBe(toWebhookBody(event, "documented"));
  });
});

/**
 * JSON that callers can send, with values that trip serialisers: keys that look like indices, `__proto__`, lone
 * surrogates, -0, 1e21.
 */
const hardString = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.constantFrom("\ud800", "\udfff\ud800", "\u2028", '"\\\u0000', "__proto__", "0", "10", "-1", "1e3"),
);
const hardJson = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    hardString,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(null, true, -0, 1e21, 5e-324, 0.1, 9007199254740991),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.tuple(hardString, tie("value")), { maxLength: 5 }).map(Object.fromEntries),
  ),
})).value;
const hardObject = fc.array(fc.tuple(hardString, hardJson), { maxLength: 6 }).map((entries) => {
  // Ingest's treatment of a caller's text: parse, then stringify.
  const text = `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(",")}}`;
  return JSON.stringify(parseJson(text));
});
const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });

const anyEvent: fc.Arbitrary<Event> = fc.record({
  messageId: hardString,
  sourceId: fc.string(),
  type: fc.constantFrom(...EVENT_TYPES),
  userId: orNull(hardString),
  anonymousId: orNull(hardString),
  timestampMs: fc.integer({ min: 0, max: 4e12 }),
  receivedAtMs: fc.nat(),
  integrations: fc.dictionary(fc.oneof(fc.string(), fc.constant("7")), fc.boolean(), { maxKeys: 3 }),
  event: orNull(hardString),
  name: orNull(hardString),
  groupId: orNull(hardString),
  previousId: orNull(hardString),
  propertiesJson: orNull(hardObject),
  traitsJson: orNull(hardObject),
  contextJson: hardObject,
  restJson: orNull(hardObject),
});

it.each(PAYLOADS)("%s is a fixed point of JSON, byte for byte, whatever the caller sent", (payload) => {
  fc.assert(
    fc.property(anyEvent, (event) => {
      const body = toWebhookBody(event, payload);
      expect(JSON.stringify(parseJson(body))).toBe(body);
      expect(Buffer.from(body, "utf8").toString("utf8")).toBe(body);
    }),
    { numRuns: 1000 },
  );
});
