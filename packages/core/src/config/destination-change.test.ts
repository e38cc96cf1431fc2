import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changeSettings, DEFAULT_SETTINGS, type DestinationSettings } from "./destination-change.ts";
import { MASK, type SettingsPatch } from "./destination-settings.ts";

const stored: DestinationSettings = {
  settle: "each",
  rateLimitPerSecond: 5,
  standardWebhooks: true,
  responseLog: "all",
  payload: "full",
  secrets: { active: "a", next: "b", previous: null },
  urls: [
    { url: "https://a.example/", headers: { Authorization: "one" } },
    { url: "https://b.example/", headers: { Authorization: "two", "X-Team": "three" } },
  ],
};

function changed(patch: SettingsPatch, from = stored): DestinationSettings {
  const change = changeSettings(from, patch);
  if (change.outcome === "refused") throw new Error(JSON.stringify(change.problems));
  return change.settings;
}

function problems(patch: SettingsPatch, from = stored): string[] {
  const change = changeSettings(from, patch);
  return change.outcome === "refused"
    ? change.problems.map(({ path, message }) => `${path.join(".")}: ${message}`)
    : [];
}

/** The settings as the API shows them, secrets masked. */
const shown = (settings: DestinationSettings): SettingsPatch => ({
  sharedSecret: { set: settings.secrets.active !== null },
  settle: settings.settle,
  rateLimitPerSecond: settings.rateLimitPerSecond,
  standardWebhooks: settings.standardWebhooks,
  responseLog: settings.responseLog,
  urls: settings.urls.map(({ url, headers }) => ({
    url,
    headers: Object.fromEntries(Object.keys(headers).map((name) => [name, MASK])),
  })),
});

const secret = fc.option(
  fc.string({ minLength: 1 }).filter((text) => text !== MASK),
  { nil: null },
);
const settings: fc.Arbitrary<DestinationSettings> = fc.record({
  settle: fc.constantFrom("any", "each"),
  rateLimitPerSecond: fc.option(fc.integer({ min: 1 }), { nil: null }),
  standardWebhooks: fc.boolean(),
  responseLog: fc.constantFrom("failures", "all", "off"),
  payload: fc.constantFrom("documented", "full"),
  secrets: secret.chain((active) =>
    fc.record({
      active: fc.constant(active),
      next: active === null ? fc.constant(null) : secret,
      previous: fc.constant(null),
    }),
  ),
  urls: fc.uniqueArray(
    fc.record({ url: fc.webUrl(), headers: fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.string()) }),
    { minLength: 1, maxLength: 5, selector: ({ url }) => url },
  ),
});

describe("a change of settings", () => {
  it("of what was read, sent back as it was, changes nothing", () => {
    fc.assert(
      fc.property(settings, (value) => {
        expect(changed(shown(value), value)).toEqual(value);
      }),
    );
  });

  it("leaves what it does not name", () => {
    expect(changed({})).toEqual(stored);
    expect(changed({ rateLimitPerSecond: null })).toEqual({ ...stored, rateLimitPerSecond: null });
    expect(changed({ settle: "any", standardWebhooks: false })).toMatchObject({
      settle: "any",
      standardWebhooks: false,
    });
  });

  it("replaces the list of URLs whole, a masked value being that of the same URL", () => {
    const urls = [{ url: "https://b.example/", headers: { authorization: MASK, "X-New": "four" } }];
    expect(changed({ urls }).urls).toEqual([
      { url: "https://b.example/", headers: { authorization: "two", "X-New": "four" } },
    ]);
  });

  it("never lets a masked value follow to another URL, nor stand for a header that was not stored", () => {
    const urls = [
      { url: "https://a.example/other", headers: { Authorization: MASK } },
      { url: "https://a.example/", headers: { "X-Team": MASK } },
    ];
    expect(problems({ urls })).toEqual([
      'urls.0.headers.Authorization: https://a.example/other: header "Authorization" has no stored value that "***" could keep: send the value itself',
      'urls.1.headers.X-Team: https://a.example/: header "X-Team" has no stored value that "***" could keep: send the value itself',
    ]);
  });
});

describe("a change of the shared secret", () => {
  it("replaces it at once and ends a rotation, unless it is the same", () => {
    expect(changed({ sharedSecret: "c" }).secrets).toEqual({ active: "c", next: null, previous: null });
    expect(changed({ sharedSecret: "a" }).secrets).toEqual(stored.secrets);
  });

  it("to null forgets every stage", () => {
    expect(changed({ sharedSecret: null }).secrets).toEqual({ active: null, next: null, previous: null });
  });

  it("keeps it for what was read, and refuses to keep what is not there or to lose what is", () => {
    expect(changed({ sharedSecret: MASK }).secrets).toEqual(stored.secrets);
    expect(changed({ sharedSecret: { set: true } }).secrets).toEqual(stored.secrets);
    expect(problems({ sharedSecret: { set: false } })).toEqual([
      "sharedSecret: a shared secret is set: send null to remove it",
    ]);
    expect(problems({ sharedSecret: MASK }, DEFAULT_SETTINGS)).toHaveLength(1);
    expect(problems({ sharedSecret: { set: true } }, DEFAULT_SETTINGS)).toHaveLength(1);
    expect(changed({ sharedSecret: { set: false } }, DEFAULT_SETTINGS)).toEqual(DEFAULT_SETTINGS);
  });
});
