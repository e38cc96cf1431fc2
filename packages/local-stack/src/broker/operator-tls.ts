/**
 * The certificates of a secured cluster. They are made at the first start of a data folder and kept in it, where only
 * its owner can read them.
 *
 * TL1  The authority's key is never written to a file, so nobody who reads the folder later can issue a certificate.
 * TL2  The folder is whole or absent: it is filled under another name and renamed.
 */
import { mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CertificateAuthority } from "@posthaste/testkit/certificates";

/** The certificate that the operator of the cluster shows, and the authority to trust, as PEM texts. */
export interface OperatorTls {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface ClusterCertificates {
  /** PEM file of the authority. */
  readonly authorityFile: string;
  /** PEM file of the private key and the certificate of the name. */
  readonly keyFile: (name: string) => string;
  readonly operator: OperatorTls;
}

/** The name in the local command's own certificate. */
export const OPERATOR = "operator";

/**
 * The certificates last longer than anybody keeps a data folder: with an expired one, nothing would start or say why.
 */
const VALID_YEARS = 20;

/**
 * Returns the certificates in the folder. Where there are none, it makes one for each name and one for the operator.
 */
export async function keepCertificates(folder: string, names: readonly string[]): Promise<ClusterCertificates> {
  const made = await stat(folder).then(
    () => true,
    () => false,
  );
  if (!made) await makeCertificates(folder, [...names, OPERATOR]);
  const authorityFile = join(folder, "authority.pem");
  const keyFile = (name: string): string => join(folder, `${name}.pem`);
  const [ca, own] = await Promise.all([readFile(authorityFile, "utf8"), readFile(keyFile(OPERATOR), "utf8")]);
  // Key and certificate stand in a single file, from which TLS takes the key for `key` and the certificate for `cert`.
  return { authorityFile, keyFile, operator: { ca, cert: own, key: own } };
}

async function makeCertificates(folder: string, names: readonly string[]): Promise<void> {
  const notAfter = new Date();
  notAfter.setFullYear(notAfter.getFullYear() + VALID_YEARS);
  const authority = new CertificateAuthority("Posthaste local command", { notAfter });
  await mkdir(dirname(folder), { recursive: true });
  const filling = await mkdtemp(`${folder}-`);
  try {
    await writeFile(join(filling, "authority.pem"), authority.cert, { mode: 0o600 });
    for (const commonName of names) {
      const { key, cert } = authority.issue({ commonName, names: ["127.0.0.1", "localhost"], notAfter });
      await writeFile(join(filling, `${commonName}.pem`), `${key}${cert}`, { mode: 0o600 });
    }
    await rename(filling, folder);
  } finally {
    await rm(filling, { recursive: true, force: true });
  }
}
