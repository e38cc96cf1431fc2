/**
 * How a receiver accepts two shared secrets for as long as one is changed for the other. The secrets are left to its
 * environment: none is in the lines.
 */
import type { LinesIn } from "./snippet-texts.ts";

export const EITHER_SECRET: readonly LinesIn[] = [
  {
    id: "js",
    name: "JavaScript",
    text: `import { createHmac, timingSafeEqual } from "node:crypto";

const secrets = [process.env.SHARED_SECRET, process.env.NEXT_SHARED_SECRET].filter(Boolean);

/** rawBody: the bytes as they came; signature: X-Signature. */
export function isGenuine(rawBody, signature) {
  const given = Buffer.from(signature ?? "");
  return secrets.some((secret) => {
    const expected = Buffer.from(createHmac("sha1", secret).update(rawBody).digest("hex"));
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}`,
  },
  {
    id: "go",
    name: "Go",
    text: `// IsGenuine: rawBody as it came; signature is X-Signature.
func IsGenuine(rawBody []byte, signature string) bool {
	for _, name := range []string{"SHARED_SECRET", "NEXT_SHARED_SECRET"} {
		secret := os.Getenv(name)
		if secret == "" {
			continue
		}
		mac := hmac.New(sha1.New, []byte(secret))
		mac.Write(rawBody)
		if hmac.Equal([]byte(signature), []byte(hex.EncodeToString(mac.Sum(nil)))) {
			return true
		}
	}
	return false
}`,
  },
  {
    id: "python",
    name: "Python",
    text: `import hashlib, hmac, os

SECRETS = [os.environ[name] for name in ("SHARED_SECRET", "NEXT_SHARED_SECRET") if os.environ.get(name)]


def is_genuine(raw_body: bytes, signature: str | None) -> bool:
    """raw_body: the bytes as they came; signature: X-Signature."""
    given = (signature or "").encode()
    return any(
        hmac.compare_digest(given, hmac.new(secret.encode(), raw_body, hashlib.sha1).hexdigest().encode())
        for secret in SECRETS
    )`,
  },
];
