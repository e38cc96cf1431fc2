/**
 * A request as a line for a shell, which sends the same bytes.
 *
 * CU1  Values that control masks are left to variables: no secret is in the line. The signature is computed by the
 *      shell out of `$SHARED_SECRET` and the body.
 */
import type { DeliveryRecord } from "../api/api-types.ts";
import { quoted } from "./quoted.ts";

const MASKED = "***";
const SIGNATURE = "x-signature";

export interface CurlRequest extends Pick<DeliveryRecord, "body"> {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function curlOf({ url, headers, body }: CurlRequest): string {
  return [
    `BODY=${quoted(body)}`,
    [
      `curl -X POST ${quoted(url)}`,
      ...Object.entries(headers).map(([name, value]) => `-H ${headerOf(name, value)}`),
      '--data-binary "$BODY"',
    ].join(" \\\n  "),
  ].join("\n");
}

function headerOf(name: string, value: string): string {
  if (value !== MASKED) return quoted(`${name}: ${value}`);
  if (name.toLowerCase() !== SIGNATURE) return `"${name}: $${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}"`;
  return `"${name}: $(printf %s "$BODY" | openssl dgst -sha1 -hmac "$SHARED_SECRET" -r | cut -d' ' -f1)"`;
}
