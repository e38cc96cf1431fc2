import { createHmac } from "node:crypto";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { createBodySigner, signStandard, standardKey, standardKeys } from "./sign.ts";

const BODY = Buffer.from('{"version":1,"type":"track","name":"Ünïcode \\ud800"}');

describe("createBodySigner", () => {
  it("is the lower-case hex HMAC-SHA1 of the body: the vectors of RFC 2202", () => {
    expect(createBodySigner("Jefe")(Buffer.from("what do ya want for nothing?"))).toBe(
      "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
    );
    expect(createBodySigner("\x0b".repeat(20))(Buffer.from("Hi There"))).toBe(
      "b617318655057264e28bc0b6fb378c8ef146be00",
    );
  });

  it("takes the secret's text as UTF-8, also when it looks like a Standard Webhooks secret", () => {
    for (const secret of ["pässwörd", "whsec_c2VjcmV0"]) {
      const expected = createHmac("sha1", Buffer.from(secret, "utf8")).update(BODY).digest("hex");
      expect(createBodySigner(secret)(BODY)).toBe(expected);
    }
  });

  it("changes with any byte of the body", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), fc.nat(), (bytes, at) => {
        const other = Uint8Array.from(bytes);
        other[at % other.length] = (other[at % other.length] ?? 0) ^ 1;
        expect(createBodySigner("secret")(other)).not.toBe(createBodySigner("secret")(bytes));
      }),
    );
  });
});

describe("standardKey", () => {
  it("decodes a secret of the form whsec_<base64>", () => {
    expect(standardKey("whsec_c2VjcmV0")).toEqual(Buffer.from("secret"));
  });

  it.each(["plain text", "c2VjcmV0", "whsec_", "whsec_not base64", "whsec_c2VjcmV"])(
    "takes any other secret as its UTF-8 bytes: %s",
    (secret) => {
      expect(standardKey(secret)).toEqual(Buffer.from(secret));
    },
  );
});

describe("signStandard", () => {
  const now = Math.floor(Date.now() / 1000);
  const content = { id: "message-1", timestampSeconds: now, body: BODY };

  function headersFor(keys: readonly Buffer[]): Record<string, string> {
    return {
      "webhook-id": content.id,
      "webhook-timestamp": String(now),
      "webhook-signature": signStandard(keys, content),
    };
  }

  it("is accepted by the standardwebhooks package for a whsec_ secret", () => {
    const secret = `whsec_${Buffer.from("0123456789abcdef01234567").toString("base64")}`;
    const payload = new Webhook(secret).verify(BODY, headersFor([standardKey(secret)]));
    expect(payload).toEqual(JSON.parse(BODY.toString()));
  });

  it("is accepted by the standardwebhooks package for a plain secret in its raw format", () => {
    const verifier = new Webhook("a plain secret", { format: "raw" });
    expect(verifier.verify(BODY, headersFor([standardKey("a plain secret")]))).toBeTruthy();
  });

  it("carries one signature a live secret, so that a receiver with any of them accepts it", () => {
    const secrets = { active: "whsec_YWN0aXZl", next: "whsec_bmV4dA==", previous: "whsec_cHJldmlvdXM=" };
    const headers = headersFor(standardKeys(secrets));
    expect(headers["webhook-signature"]?.split(" ")).toHaveLength(3);
    for (const secret of Object.values(secrets)) {
      expect(new Webhook(secret).verify(BODY, headers)).toBeTruthy();
    }
    expect(() => new Webhook("whsec_b3RoZXI=").verify(BODY, headers)).toThrow();
  });

  it("signs once with a secret that is live twice", () => {
    expect(standardKeys({ active: "same", next: "same", previous: null })).toHaveLength(1);
  });
});
