/**
 * Settings that name a file. The file is read at the start. An error names the file and the expected content; it never
 * shows the file's content.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { z } from "zod";

/**
 * A setting with the path of a file that holds `what`. The setting's value is the result of `read` for the file's text;
 * the setting is refused when that is undefined.
 */
export const fileOf = <T>(what: string, read: (text: string) => T | undefined) =>
  z.string().transform((path, context): T => {
    const value = readFrom(path, what, read);
    if ("made" in value) return value.made;
    context.addIssue({ code: "custom", message: value.problem });
    return z.NEVER;
  });

function readFrom<T>(
  path: string,
  what: string,
  read: (text: string) => T | undefined,
): { readonly made: T } | { readonly problem: string } {
  try {
    const made = read(readFileSync(path, "utf8"));
    return made === undefined ? { problem: `expected a file that holds ${what}; ${path} does not` } : { made };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
    return { problem: `expected a file that holds ${what}; ${path} cannot be read (${code})` };
  }
}

export const CERTIFICATES = "certificates in PEM";
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Returns the text when it holds at least one certificate and all its certificates can be read. */
export function readCertificates(text: string): string | undefined {
  const certificates = text.match(CERTIFICATE) ?? [];
  return certificates.length > 0 && certificates.every(isCertificate) ? text : undefined;
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem);
    return true;
  } catch {
    return false;
  }
}

export const PRIVATE_KEY = "a private key in PEM without a passphrase";

/** Returns the text when it holds a private key that needs no passphrase. */
export function readPrivateKey(text: string): string | undefined {
  try {
    createPrivateKey(text);
    return text;
  } catch {
    return undefined;
  }
}

/** True when the key belongs to the first certificate. */
export function isPair(certificates: string, key: string): boolean {
  return new X509Certificate(certificates).checkPrivateKey(createPrivateKey(key));
}

export const SECRET = "a password in one line";

/** Returns the text without the end of the line that editors and `echo` add. */
export function readSecret(text: string): string | undefined {
  const secret = text.replace(/\r?\n$/, "");
  return secret === "" || /[\r\n]/.test(secret) ? undefined : secret;
}
