import { expect, it } from "vitest";
import { hasGoodSignature, signatureOf } from "./signature.ts";

const body = Buffer.from('{"type":"track","event":"Órder"}');
const request = (signature: string | undefined, bytes = body) => ({
  headers: { "x-signature": signature },
  body: bytes,
});

it("agrees with a digest computed by another implementation (openssl dgst -sha1 -hmac key)", () => {
  expect(signatureOf("key", "The quick brown fox jumps over the lazy dog")).toBe(
    "de7c9b85b8b78aa6bc8a7a36f70a90701c9db4d9",
  );
});

it("takes the right signature and refuses another secret's, a missing and a shortened one", () => {
  const right = signatureOf("s", body);
  expect(hasGoodSignature(request(right), "s")).toBe(true);
  expect(hasGoodSignature(request(right), "other")).toBe(false);
  expect(hasGoodSignature(request(undefined), "s")).toBe(false);
  expect(hasGoodSignature(request(right.slice(1)), "s")).toBe(false);
});

it("refuses a body that is no fixed point of JSON, although its bytes are signed", () => {
  const spaced = Buffer.from('{ "type": "track" }');
  expect(hasGoodSignature(request(signatureOf("s", spaced), spaced), "s")).toBe(false);
  const broken = Buffer.from('{"type"');
  expect(hasGoodSignature(request(signatureOf("s", broken), broken), "s")).toBe(false);
});
