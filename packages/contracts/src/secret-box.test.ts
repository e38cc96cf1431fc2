import { randomBytes } from "node:crypto";
import { isPosthasteError } from "@posthaste/core/errors";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSecretBox, parseSecretKeys, type Sealed, type SecretKey } from "./secret-box.ts";

const key = (id: string): SecretKey => ({ id, key: randomBytes(32) });
const oldKey = key("old");
const newKey = key("new");
const place = fc.array(fc.string(), { maxLength: 4 });
const secret = fc.string({ unit: "binary" });

function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (isPosthasteError(error)) return `${error.code}: ${error.message}`;
    throw error;
  }
  return "nothing thrown";
}

describe("secret box", () => {
  it("opens in its place whatever it sealed there", () => {
    const box = createSecretBox([newKey]);
    fc.assert(
      fc.property(secret, place, (text, where) => {
        expect(box.open(box.seal(text, where), where)).toBe(text);
      }),
    );
  });

  it("opens nothing in another place, however alike the places are when joined", () => {
    const box = createSecretBox([newKey]);
    fc.assert(
      fc.property(secret, place, place, (text, here, there) => {
        fc.pre(JSON.stringify(here) !== JSON.stringify(there));
        expect(box.open(box.seal(text, here), there)).toBeNull();
      }),
    );
    expect(box.open(box.seal("s", ["a", "bc"]), ["ab", "c"])).toBeNull();
  });

  it("opens nothing of which a single bit was changed", () => {
    const box = createSecretBox([newKey]);
    fc.assert(
      fc.property(secret, fc.nat(), fc.integer({ min: 0, max: 7 }), (text, index, bit) => {
        const sealed = box.seal(text, ["here"]);
        const bytes = Buffer.concat([sealed.nonce, sealed.ciphertext]);
        const at = index % bytes.length;
        bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at);
        const changed: Sealed = { ...sealed, nonce: bytes.subarray(0, 12), ciphertext: bytes.subarray(12) };
        expect(box.open(changed, ["here"])).toBeNull();
      }),
    );
  });

  it("never seals the same secret to the same bytes twice", () => {
    const box = createSecretBox([newKey]);
    const seen = new Set(Array.from({ length: 1000 }, () => box.seal("s", []).ciphertext.toString("hex")));
    expect(seen.size).toBe(1000);
  });

  it("seals under the first key and opens under any, so that keys rotate", () => {
    const before = createSecretBox([oldKey]);
    const after = createSecretBox([newKey, oldKey]);
    expect(after.open(before.seal("s", ["p"]), ["p"])).toBe("s");
    expect(after.seal("s", ["p"]).keyId).toBe("new");
    expect(before.open(after.seal("s", ["p"]), ["p"])).toBeNull();
  });

  it("opens nothing under another key that goes by the same id", () => {
    expect(createSecretBox([key("k")]).open(createSecretBox([key("k")]).seal("s", []), [])).toBeNull();
  });

  it("opens nothing that is too short to hold a tag, or has no nonce", () => {
    const box = createSecretBox([newKey]);
    const sealed = box.seal("", []);
    expect(box.open({ ...sealed, ciphertext: Buffer.alloc(15) }, [])).toBeNull();
    expect(box.open({ ...sealed, nonce: Buffer.alloc(0) }, [])).toBeNull();
  });
});

describe("the setting of the secret keys", () => {
  const base64 = randomBytes(32).toString("base64");

  it("reads ids and keys in order, the active one first", () => {
    expect(parseSecretKeys(`b:${base64}, a:${base64}`).map(({ id }) => id)).toEqual(["b", "a"]);
    expect(parseSecretKeys(`b:${base64}`)[0]?.key.toString("base64")).toBe(base64);
  });

  it.each([
    ["", /^invalid_config: entry 1: expected id:base64 of 32 bytes/],
    [`a:${base64},`, /entry 2: expected/],
    [`a:${base64},b:c2hvcnQ=`, /entry 2 \("b"\): expected base64 of 32 bytes, found 5/],
    [`a:${base64},a:${base64}`, /the key id "a" stands twice/],
    ["no colon", /entry 1: expected/],
  ])("refuses %j with what was expected", (text, message) => {
    expect(codeOf(() => parseSecretKeys(text))).toMatch(message);
  });

  it("shows no part of a key in a refusal", () => {
    expect(codeOf(() => parseSecretKeys(`a:${base64}!`))).not.toContain(base64.slice(0, 8));
  });
});
