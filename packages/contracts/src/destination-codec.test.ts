import { randomBytes } from "node:crypto";
import type { Destination } from "@posthaste/core/config/destination";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Codec } from "./codec.ts";
import { createDestinationCodec, type DestinationRecord } from "./destination-codec.ts";
import { createSecretBox, type SecretBox, type SecretKey } from "./secret-box.ts";

const key = (id: string): SecretKey => ({ id, key: randomBytes(32) });
const oldKey = key("old");
const newKey = key("new");

/** Stands in for the registry's codec: bytes are a number under which the record is kept. */
function memoryCodec(): Codec<DestinationRecord> & { readonly records: DestinationRecord[] } {
  const records: DestinationRecord[] = [];
  return {
    records,
    encode: (record) => Buffer.from([records.push(record) - 1]),
    decode: (bytes) => {
      const record = records[bytes.readUInt8(0)];
      if (record === undefined) throw new Error("no such record");
      return record;
    },
    prefetch: () => undefined,
  };
}

const nullableSecret = fc.option(fc.string({ minLength: 1 }), { nil: null });
const headers = fc.dictionary(fc.stringMatching(/^[a-z-]{1,12}$/), fc.string({ minLength: 1 }), { maxKeys: 4 });
const destination: fc.Arbitrary<Destination> = fc.record({
  id: fc.uuid(),
  revision: fc.nat(),
  type: fc.constant("Webhooks" as const),
  name: fc.string(),
  sourceIds: fc.array(fc.string(), { maxLength: 3 }),
  enabled: fc.boolean(),
  settle: fc.constantFrom("any" as const, "each" as const),
  rateLimitPerSecond: fc.option(fc.integer({ min: 1, max: 1000 }), { nil: null }),
  standardWebhooks: fc.boolean(),
  responseLog: fc.constantFrom("failures" as const, "all" as const, "off" as const),
  payload: fc.constantFrom("documented" as const, "full" as const),
  secrets: fc.record({ active: nullableSecret, next: nullableSecret, previous: nullableSecret }),
  urls: fc.array(fc.record({ url: fc.webUrl(), headers }), { maxLength: 5 }),
  createdAtMs: fc.nat(),
  updatedAtMs: fc.nat(),
  missingKeyIds: fc.constant(null),
});

const sample: Destination = {
  id: "dst_1",
  revision: 7,
  type: "Webhooks",
  name: "billing",
  sourceIds: ["src_1"],
  enabled: true,
  settle: "any",
  rateLimitPerSecond: null,
  standardWebhooks: false,
  responseLog: "off",
  payload: "full",
  secrets: { active: "active-secret", next: "next-secret", previous: null },
  urls: [
    { url: "https://a.example/hook", headers: { Authorization: "Bearer header-secret" } },
    { url: "https://b.example/hook", headers: { Authorization: "Bearer other-secret" } },
  ],
  createdAtMs: 1,
  updatedAtMs: 2,
  missingKeyIds: null,
};

function rewrite(box: SecretBox, change: (record: DestinationRecord) => DestinationRecord): Destination {
  const raw = memoryCodec();
  const codec = createDestinationCodec(raw, box);
  codec.encode(sample);
  return codec.decode(raw.encode(change(raw.records[0] as DestinationRecord)));
}

describe("destination codec", () => {
  it("reads back exactly the destination that was written", () => {
    fc.assert(
      fc.property(destination, (value) => {
        const codec = createDestinationCodec(memoryCodec(), createSecretBox([newKey]));
        expect(codec.decode(codec.encode(value))).toEqual(value);
      }),
    );
  });

  it("hands no secret and no header value to the record in clear", () => {
    const raw = memoryCodec();
    createDestinationCodec(raw, createSecretBox([newKey])).encode(sample);
    const written = JSON.stringify(raw.records[0], (_, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value,
    );
    expect(written).toContain("https://a.example/hook");
    expect(written).not.toMatch(/active-secret|next-secret|header-secret|other-secret/);
  });

  it("names the keys that are missing instead of failing, and keeps what is set apart from what is not", () => {
    const raw = memoryCodec();
    const bytes = createDestinationCodec(raw, createSecretBox([oldKey])).encode(sample);
    const read = createDestinationCodec(raw, createSecretBox([newKey])).decode(bytes);
    expect(read.missingKeyIds).toEqual(["old"]);
    expect(read.secrets).toEqual({ active: "", next: "", previous: null });
    expect(read.urls[0]).toEqual({ url: "https://a.example/hook", headers: { Authorization: "" } });
  });

  it("moves every secret to the active key with the next write", () => {
    const raw = memoryCodec();
    const rotating = createDestinationCodec(raw, createSecretBox([newKey, oldKey]));
    const read = rotating.decode(createDestinationCodec(raw, createSecretBox([oldKey])).encode(sample));
    expect(read).toEqual(sample);
    const rewritten = rotating.encode(read);
    expect(createDestinationCodec(raw, createSecretBox([newKey])).decode(rewritten)).toEqual(sample);
  });

  it("refuses to write a destination whose secrets it could not open, since that would erase them", () => {
    const codec = createDestinationCodec(memoryCodec(), createSecretBox([newKey]));
    expect(() => codec.encode({ ...sample, missingKeyIds: ["old"] })).toThrow(
      expect.objectContaining({ code: "unknown_secret_key", message: expect.stringContaining("old") }),
    );
  });

  it("does not open a secret that was moved to another slot, URL, header or destination", () => {
    const box = createSecretBox([newKey]);
    expect(rewrite(box, (record) => record).missingKeyIds).toBeNull();
    const moves: ((record: DestinationRecord) => DestinationRecord)[] = [
      (record) => ({ ...record, id: "dst_2" }),
      (record) => ({ ...record, nextSecret: null, activeSecret: record.nextSecret }),
      (record) => ({ ...record, urls: record.urls.map((url) => ({ ...url, url: "https://c.example/" })) }),
      (record) => ({
        ...record,
        urls: record.urls.map(({ url, headers: sealed }) => ({
          url,
          headers: { "X-Echo": Object.values(sealed)[0] as (typeof sealed)[string] },
        })),
      }),
    ];
    for (const move of moves) expect(rewrite(box, move).missingKeyIds).toEqual(["new"]);
  });

  it("does not open a secret of an older revision in a newer record", () => {
    const box = createSecretBox([newKey]);
    expect(rewrite(box, (record) => ({ ...record, revision: record.revision + 1 })).missingKeyIds).toEqual(["new"]);
    const sharedOnly = (record: DestinationRecord): DestinationRecord => ({
      ...record,
      revision: record.revision + 1,
      urls: record.urls.map(({ url }) => ({ url, headers: {} })),
    });
    expect(rewrite(box, sharedOnly)).toMatchObject({ secrets: { active: "", next: "" }, missingKeyIds: ["new"] });
    const headersOnly = (record: DestinationRecord): DestinationRecord => ({
      ...record,
      ...{ revision: record.revision + 1, activeSecret: null, nextSecret: null },
    });
    expect(rewrite(box, headersOnly).missingKeyIds).toEqual(["new"]);
  });

  it("opens a record that was sealed before revisions counted, and seals it by its own at the next write", () => {
    const box = createSecretBox([newKey]);
    const before: DestinationRecord = {
      ...{ id: "dst_1", revision: 7, type: "Webhooks", name: "billing", sourceIds: ["src_1"], enabled: true },
      ...{ settle: "any", rateLimitPerSecond: null, standardWebhooks: false, responseLog: "off", payload: "full" },
      ...{ createdAtMs: 1, updatedAtMs: 2 },
      activeSecret: box.seal("active-secret", ["destination", "dst_1", "secret", "active"]),
      nextSecret: box.seal("next-secret", ["destination", "dst_1", "secret", "next"]),
      previousSecret: null,
      urls: sample.urls.map(({ url, headers: values }) => ({
        url,
        headers: {
          Authorization: box.seal(String(values["Authorization"]), [
            ...["destination", "dst_1", "header", url, "Authorization"],
          ]),
        },
      })),
    };
    const raw = memoryCodec();
    const codec = createDestinationCodec(raw, box);
    const read = codec.decode(raw.encode(before));
    expect(read).toEqual(sample);
    codec.encode(read);
    const again = raw.records[1] as DestinationRecord;
    expect(codec.decode(raw.encode({ ...again, revision: 8 })).missingKeyIds).toEqual(["new"]);
  });

  it("refuses a record of a type that it does not know", () => {
    const box = createSecretBox([newKey]);
    expect(() => rewrite(box, (record) => ({ ...record, type: "Mail" }))).toThrow(
      /dst_1 is of the unknown type "Mail"/,
    );
  });
});
