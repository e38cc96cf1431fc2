import { X509Certificate } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSecureContext } from "node:tls";
import { afterEach, beforeEach, expect, it } from "vitest";
import { keepCertificates } from "./operator-tls.ts";

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

let dataDir: string;
let folder: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "posthaste-operator-tls-"));
  folder = join(dataDir, "processes", "tls");
});

afterEach(async () => {
  await rm(dataDir, { recursive: true });
});

it("gives each broker and the operator a certificate of one authority, for this machine and for years", async () => {
  const { authorityFile, keyFile, operator } = await keepCertificates(folder, ["kafka-1", "kafka-2"]);
  const authority = new X509Certificate(await readFile(authorityFile));
  for (const name of ["kafka-1", "kafka-2", "operator"]) {
    const pem = await readFile(keyFile(name), "utf8");
    const certificate = new X509Certificate(pem);
    expect(certificate.verify(authority.publicKey)).toBe(true);
    expect(certificate.subject).toBe(`CN=${name}`);
    expect(certificate.checkIP("127.0.0.1")).toBe("127.0.0.1");
    expect(certificate.checkHost("localhost")).toBe("localhost");
    expect(Math.min(certificate.validToDate.getTime(), authority.validToDate.getTime())).toBeGreaterThan(
      Date.now() + 10 * YEAR_MS,
    );
    // The key that it is for stands beside it.
    expect(() => createSecureContext({ key: pem, cert: pem })).not.toThrow();
  }
  expect(operator.ca).toBe(await readFile(authorityFile, "utf8"));
});

it("makes them once", async () => {
  const { operator } = await keepCertificates(folder, ["kafka-1"]);
  expect((await keepCertificates(folder, ["kafka-1"])).operator).toEqual(operator);
});

it("TL1, TL2: keeps them from all but their owner, nothing beside them, and the authority's key nowhere", async () => {
  await keepCertificates(folder, ["kafka-1"]);
  expect(await readdir(join(dataDir, "processes"))).toEqual(["tls"]);
  expect((await readdir(folder)).sort()).toEqual(["authority.pem", "kafka-1.pem", "operator.pem"]);
  for (const file of await readdir(folder)) expect((await stat(join(folder, file))).mode & 0o077).toBe(0);
  expect(await readFile(join(folder, "authority.pem"), "utf8")).not.toContain("PRIVATE KEY");
});
