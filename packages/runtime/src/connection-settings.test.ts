import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CertificateAuthority } from "@posthaste/testkit/certificates";
import { afterAll, describe, expect, it } from "vitest";
import { port, readConfig } from "./config.ts";
import { kafkaAccess, registryAccess, withConnections } from "./connection-settings.ts";

const settings = withConnections({ POSTHASTE_PORT: port().default(8080) });
const NEEDED = { KAFKA_BROKERS: "a:9092,b:9092", SCHEMA_REGISTRY_URL: "https://registry.example/apis/ccompat/v7" };

const folder = mkdtempSync(join(tmpdir(), "connection-settings-"));
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

const authority = new CertificateAuthority();
const client = authority.issue({ commonName: "client" });
const ca = file("authority.pem", authority.cert);
const cert = file("client.pem", client.cert);
const key = file("client.key", client.key);
const otherKey = file("other.key", authority.issue({ commonName: "other" }).key);
afterAll(() => rmSync(folder, { recursive: true }));

const read = (env: Record<string, string>) => readConfig(settings, { ...NEEDED, ...env });

/** The problems as the person at the terminal reads them. */
const problemsOf = (env: Record<string, string>): readonly string[] => {
  try {
    read(env);
  } catch (error) {
    return (error as { readonly problems: readonly string[] }).problems;
  }
  return [];
};

const PLAIN = { KAFKA_SASL_MECHANISM: "plain", KAFKA_SASL_USERNAME: "ingest", KAFKA_SASL_PASSWORD: "pass word" };

describe("how Kafka and the registry are reached", () => {
  it("is over TCP and without a login where nothing is said, beside the process's own settings", () => {
    const config = read({ POSTHASTE_PORT: "1" });
    expect(config.POSTHASTE_PORT).toBe(1);
    expect(kafkaAccess(config)).toEqual({ brokers: ["a:9092", "b:9092"] });
    expect(registryAccess(config)).toEqual({ url: NEEDED.SCHEMA_REGISTRY_URL });
  });

  it("is over TLS with the usual authorities, with a named one, with a certificate of its own", () => {
    expect(kafkaAccess(read({ KAFKA_TLS: "true" })).tls).toEqual({});
    const files = { KAFKA_TLS_CA_FILE: ca, KAFKA_TLS_CERT_FILE: cert, KAFKA_TLS_KEY_FILE: key };
    const { tls } = kafkaAccess(read({ KAFKA_TLS: "true", ...files }));
    expect(tls?.ca).toContain("BEGIN CERTIFICATE");
    expect(tls?.cert).toContain("BEGIN CERTIFICATE");
    expect(tls?.key).toContain("PRIVATE KEY");
    expect(tls?.ca).not.toBe(tls?.cert);
    expect(registryAccess(read({ SCHEMA_REGISTRY_CA_FILE: ca })).ca).toBe(tls?.ca);
  });

  it.each(["plain", "scram-sha-256", "scram-sha-512"])("logs in by %s with a password or a file of it", (mechanism) => {
    const login = { mechanism, username: "ingest", password: "pass word" };
    expect(kafkaAccess(read({ ...PLAIN, KAFKA_SASL_MECHANISM: mechanism })).login).toEqual(login);
    const { KAFKA_SASL_PASSWORD: _, ...others } = { ...PLAIN, KAFKA_SASL_MECHANISM: mechanism };
    for (const end of ["", "\n", "\r\n"]) {
      const named = { ...others, KAFKA_SASL_PASSWORD_FILE: file("password", `pass word${end}`) };
      expect(kafkaAccess(read(named)).login).toEqual(login);
    }
  });

  it("logs in by oauthbearer with a file that need not be there at the start", () => {
    const env = { KAFKA_SASL_MECHANISM: "oauthbearer", KAFKA_SASL_TOKEN_FILE: "/not/there/yet" };
    expect(kafkaAccess(read(env)).login).toEqual({ mechanism: "oauthbearer", tokenFile: "/not/there/yet" });
  });

  it("logs in at the registry with a password or a file of it", () => {
    const login = { username: "u", password: "p" };
    const user = { SCHEMA_REGISTRY_USERNAME: "u" };
    expect(registryAccess(read({ ...user, SCHEMA_REGISTRY_PASSWORD: "p" })).login).toEqual(login);
    const named = { ...user, SCHEMA_REGISTRY_PASSWORD_FILE: file("registry-password", "p\n") };
    expect(registryAccess(read(named)).login).toEqual(login);
  });
});

describe("a contradiction stops the start by name", () => {
  const OAUTH = { KAFKA_SASL_MECHANISM: "oauthbearer", KAFKA_SASL_TOKEN_FILE: "/token" };
  const withoutPassword = { KAFKA_SASL_MECHANISM: "plain", KAFKA_SASL_USERNAME: "u" };
  const REGISTRY = { SCHEMA_REGISTRY_USERNAME: "u", SCHEMA_REGISTRY_PASSWORD: "p" };

  it.each<[Record<string, string>, readonly string[]]>([
    [{ KAFKA_SASL_USERNAME: "u" }, ["KAFKA_SASL_USERNAME: set KAFKA_SASL_MECHANISM too, or leave it out"]],
    [{ KAFKA_SASL_PASSWORD: "p" }, ["KAFKA_SASL_PASSWORD: set KAFKA_SASL_MECHANISM too, or leave it out"]],
    [{ KAFKA_SASL_TOKEN_FILE: "/t" }, ["KAFKA_SASL_TOKEN_FILE: set KAFKA_SASL_MECHANISM too, or leave it out"]],
    [
      { KAFKA_SASL_MECHANISM: "scram-sha-1" },
      ["KAFKA_SASL_MECHANISM: expected one of plain, scram-sha-256, scram-sha-512, oauthbearer"],
    ],
    [
      { KAFKA_SASL_MECHANISM: "scram-sha-512" },
      [
        "KAFKA_SASL_USERNAME is not set: KAFKA_SASL_MECHANISM=scram-sha-512 wants it",
        "KAFKA_SASL_PASSWORD is not set: KAFKA_SASL_MECHANISM=scram-sha-512 wants it, or KAFKA_SASL_PASSWORD_FILE",
      ],
    ],
    [
      { KAFKA_SASL_MECHANISM: "plain", KAFKA_SASL_PASSWORD: "p" },
      ["KAFKA_SASL_USERNAME is not set: KAFKA_SASL_MECHANISM=plain wants it"],
    ],
    [
      { ...PLAIN, KAFKA_SASL_TOKEN_FILE: "/t" },
      ["KAFKA_SASL_TOKEN_FILE: leave it out: KAFKA_SASL_MECHANISM=plain has none"],
    ],
    [
      { KAFKA_SASL_MECHANISM: "oauthbearer" },
      ["KAFKA_SASL_TOKEN_FILE is not set: KAFKA_SASL_MECHANISM=oauthbearer wants it"],
    ],
    [
      { ...OAUTH, KAFKA_SASL_USERNAME: "u", KAFKA_SASL_PASSWORD: "p" },
      [
        "KAFKA_SASL_USERNAME: leave it out: KAFKA_SASL_MECHANISM=oauthbearer has none",
        "KAFKA_SASL_PASSWORD: leave it out: KAFKA_SASL_MECHANISM=oauthbearer has none",
      ],
    ],
    [
      { SCHEMA_REGISTRY_URL: "registry", SCHEMA_REGISTRY_USERNAME: "u" },
      ["SCHEMA_REGISTRY_URL: expected the registry's URL, http:// or https://"],
    ],
    [{ KAFKA_TLS: "yes" }, ["KAFKA_TLS: expected true or false"]],
    [
      { SCHEMA_REGISTRY_PASSWORD: "p" },
      ["SCHEMA_REGISTRY_PASSWORD: set SCHEMA_REGISTRY_USERNAME too, or leave it out"],
    ],
    [
      { SCHEMA_REGISTRY_USERNAME: "u" },
      ["SCHEMA_REGISTRY_PASSWORD is not set: SCHEMA_REGISTRY_USERNAME wants it, or SCHEMA_REGISTRY_PASSWORD_FILE"],
    ],
    [
      { ...REGISTRY, SCHEMA_REGISTRY_URL: "https://a:b@registry.example" },
      ["SCHEMA_REGISTRY_USERNAME: SCHEMA_REGISTRY_URL holds a user already: leave it out there or here"],
    ],
  ])("%j", (env, problems) => {
    expect(problemsOf(env)).toEqual(problems);
  });

  it("of a file of TLS without TLS, or of one of two", () => {
    const withoutTls = ": set KAFKA_TLS to true too, or leave it out";
    expect(problemsOf({ KAFKA_TLS_CA_FILE: ca })).toEqual([`KAFKA_TLS_CA_FILE${withoutTls}`]);
    expect(problemsOf({ KAFKA_TLS: "false", KAFKA_TLS_CERT_FILE: cert, KAFKA_TLS_KEY_FILE: key })).toEqual([
      `KAFKA_TLS_CERT_FILE${withoutTls}`,
      `KAFKA_TLS_KEY_FILE${withoutTls}`,
    ]);
    expect(problemsOf({ KAFKA_TLS: "true", KAFKA_TLS_CERT_FILE: cert })).toEqual([
      "KAFKA_TLS_KEY_FILE is not set: KAFKA_TLS_CERT_FILE wants its key",
    ]);
    expect(problemsOf({ KAFKA_TLS: "true", KAFKA_TLS_KEY_FILE: key })).toEqual([
      "KAFKA_TLS_CERT_FILE is not set: KAFKA_TLS_KEY_FILE is the key of one",
    ]);
    expect(problemsOf({ KAFKA_TLS: "true", KAFKA_TLS_CERT_FILE: cert, KAFKA_TLS_KEY_FILE: otherKey })).toEqual([
      "KAFKA_TLS_KEY_FILE: expected the key of the first certificate in KAFKA_TLS_CERT_FILE; it is another's",
    ]);
    expect(problemsOf({ SCHEMA_REGISTRY_URL: "http://registry:8081", SCHEMA_REGISTRY_CA_FILE: ca })).toEqual([
      "SCHEMA_REGISTRY_CA_FILE: leave it out, or name an https:// URL in SCHEMA_REGISTRY_URL",
    ]);
  });

  it("of a password that is there twice", () => {
    const path = file("twice", "p");
    expect(problemsOf({ ...PLAIN, KAFKA_SASL_PASSWORD_FILE: path })).toEqual([
      "KAFKA_SASL_PASSWORD_FILE: leave it out, or KAFKA_SASL_PASSWORD: one of the two",
    ]);
    expect(problemsOf({ ...REGISTRY, SCHEMA_REGISTRY_PASSWORD_FILE: path })).toEqual([
      "SCHEMA_REGISTRY_PASSWORD_FILE: leave it out, or SCHEMA_REGISTRY_PASSWORD: one of the two",
    ]);
  });

  it("of a file that is not there, or holds another thing, without telling what", () => {
    const [nothing, text] = [join(folder, "nothing"), file("text", "top secret\nsecond line")];
    const broken = file("broken.pem", "-----BEGIN CERTIFICATE-----\nTOPSECRET\n-----END CERTIFICATE-----\n");
    const expected = "expected a file that holds certificates in PEM";
    const caFile = (path: string) => problemsOf({ KAFKA_TLS: "true", KAFKA_TLS_CA_FILE: path });
    expect(caFile(nothing)).toEqual([`KAFKA_TLS_CA_FILE: ${expected}; ${nothing} cannot be read (ENOENT)`]);
    expect(caFile(text)).toEqual([`KAFKA_TLS_CA_FILE: ${expected}; ${text} does not`]);
    expect(caFile(broken)).toEqual([`KAFKA_TLS_CA_FILE: ${expected}; ${broken} does not`]);
    const keyFile = problemsOf({ KAFKA_TLS: "true", KAFKA_TLS_CERT_FILE: cert, KAFKA_TLS_KEY_FILE: text });
    expect(keyFile).toEqual([
      `KAFKA_TLS_KEY_FILE: expected a file that holds a private key in PEM without a passphrase; ${text} does not`,
    ]);
    for (const path of [text, file("empty", "\n")]) {
      expect(problemsOf({ ...withoutPassword, KAFKA_SASL_PASSWORD_FILE: path })).toEqual([
        `KAFKA_SASL_PASSWORD_FILE: expected a file that holds a password in one line; ${path} does not`,
      ]);
    }
  });
});
