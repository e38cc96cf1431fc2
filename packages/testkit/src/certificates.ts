/**
 * Certificates that are made when they are needed, by tests and by the local command: the little of X.509 that TLS
 * needs, written as DER by hand, so that no key is ever committed and no tool has to be installed.
 */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIPv4 } from "node:net";

export interface Issued {
  /** PEM. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
}

export interface CertificateOptions {
  readonly commonName: string;
  /** DNS names and IPv4 addresses that the certificate is for. */
  readonly names?: readonly string[];
  /** From when to when it is valid; default from yesterday to tomorrow. */
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

const DAY_MS = 86_400_000;

/**
 * A certificate authority. `issue` makes certificates that every client of `cert` trusts. Its key never leaves this
 * object: when that is gone, nobody issues another.
 */
export class CertificateAuthority {
  readonly cert: string;
  readonly #name: Buffer;
  readonly #key: KeyObject;

  constructor(commonName = "Test Authority", validity: Pick<CertificateOptions, "notBefore" | "notAfter"> = {}) {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    this.#name = distinguishedName(commonName);
    this.#key = privateKey;
    this.cert = certificate(
      { commonName, ...validity },
      { publicKey, issuer: this.#name, issuerKey: privateKey, isAuthority: true },
    );
  }

  issue(options: CertificateOptions): Issued {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const signing = { publicKey, issuer: this.#name, issuerKey: this.#key, isAuthority: false };
    return { cert: certificate(options, signing), key: toPem(privateKey) };
  }
}

/** A certificate that nobody vouches for but itself. */
export function selfSigned(options: CertificateOptions): Issued {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const issuer = distinguishedName(options.commonName);
  return {
    cert: certificate(options, { publicKey, issuer, issuerKey: privateKey, isAuthority: false }),
    key: toPem(privateKey),
  };
}

interface Signing {
  readonly publicKey: KeyObject;
  readonly issuer: Buffer;
  readonly issuerKey: KeyObject;
  readonly isAuthority: boolean;
}

const ECDSA_WITH_SHA256 = sequence(objectId([1, 2, 840, 10045, 4, 3, 2]));

function certificate(options: CertificateOptions, { publicKey, issuer, issuerKey, isAuthority }: Signing): string {
  const { notBefore = new Date(Date.now() - DAY_MS), notAfter = new Date(Date.now() + DAY_MS) } = options;
  const signed = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    issuer,
    sequence(utcTime(notBefore), utcTime(notAfter)),
    distinguishedName(options.commonName),
    publicKey.export({ type: "spki", format: "der" }),
    explicit(3, sequence(...extensions(options.names ?? [], isAuthority))),
  );
  const signature = sign("sha256", signed, issuerKey);
  const der = sequence(signed, ECDSA_WITH_SHA256, tagged(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

function extensions(names: readonly string[], isAuthority: boolean): Buffer[] {
  const basicConstraints = sequence(...(isAuthority ? [tagged(0x01, Buffer.from([0xff]))] : []));
  const list = [sequence(objectId([2, 5, 29, 19]), tagged(0x04, basicConstraints))];
  if (names.length > 0) {
    const alternatives = sequence(...names.map(generalName));
    list.push(sequence(objectId([2, 5, 29, 17]), tagged(0x04, alternatives)));
  }
  return list;
}

function generalName(name: string): Buffer {
  return isIPv4(name) ? tagged(0x87, Buffer.from(name.split(".").map(Number))) : tagged(0x82, Buffer.from(name));
}

function distinguishedName(commonName: string): Buffer {
  const attribute = sequence(objectId([2, 5, 4, 3]), tagged(0x0c, Buffer.from(commonName)));
  return sequence(tagged(0x31, attribute));
}

function utcTime(date: Date): Buffer {
  const text = date.toISOString().replaceAll(/[-:T]/g, "").slice(2, 14);
  return tagged(0x17, Buffer.from(`${text}Z`));
}

function objectId([first = 0, second = 0, ...rest]: readonly number[]): Buffer {
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const groups = [part & 0x7f];
    for (let left = part >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return tagged(0x06, Buffer.from(bytes));
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}

function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes);
}

function explicit(number: number, content: Buffer): Buffer {
  return tagged(0xa0 | number, content);
}

function tagged(tag: number, content: Uint8Array): Buffer {
  const { length } = content;
  const lengthBytes = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...lengthBytes]), content]);
}

function toPem(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}
