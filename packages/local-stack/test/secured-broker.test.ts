import { readFile } from "node:fs/promises";
import { CertificateAuthority } from "@posthaste/testkit/certificates";
import { oauthToken, type SecuredBroker, startSecuredBroker } from "@posthaste/testkit/secured-broker";
import { Kafka, logLevel, type SASLOptions } from "kafkajs";
import { afterAll, beforeAll, expect, it } from "vitest";

const USER = { name: "some-service", password: "a password" };
const HOUR_MS = 3_600_000;

let secured: SecuredBroker;
let ca: string;

beforeAll(async () => {
  secured = await startSecuredBroker([USER]);
  ca = await readFile(secured.authorityFile, "utf8");
}, 60_000);

afterAll(async () => {
  await secured?.stop();
});

interface Client {
  readonly broker?: string;
  readonly sasl?: SASLOptions;
  readonly ssl?: { readonly ca: string; readonly cert?: string; readonly key?: string } | false;
}

/** The ids of the brokers as a client is told that calls so. */
async function brokerIds({ broker = secured.broker, sasl, ssl = { ca } }: Client): Promise<readonly number[]> {
  const admin = new Kafka({
    brokers: [broker],
    ssl,
    ...(sasl ? { sasl } : {}),
    logLevel: logLevel.NOTHING,
    retry: { retries: 0 },
  }).admin();
  try {
    await admin.connect();
    return (await admin.describeCluster()).brokers.map(({ nodeId }) => nodeId);
  } finally {
    await admin.disconnect();
  }
}

const login = (mechanism: "plain" | "scram-sha-256" | "scram-sha-512", password = USER.password) => ({
  mechanism,
  username: USER.name,
  password,
});
const token = (value: string): SASLOptions => ({
  mechanism: "oauthbearer",
  oauthBearerProvider: async () => ({ value }),
});

it.each(["plain", "scram-sha-256", "scram-sha-512"] as const)(
  "takes a user by %s with the right password",
  async (mechanism) => {
    expect(await brokerIds({ sasl: login(mechanism) as SASLOptions })).toEqual([1]);
    await expect(brokerIds({ sasl: login(mechanism, "another") as SASLOptions })).rejects.toThrow(/[Aa]uthentication/);
  },
);

it("takes a token that has not expired", async () => {
  expect(await brokerIds({ sasl: token(oauthToken("some-service")) })).toEqual([1]);
  const expiredAt = new Date(Date.now() - HOUR_MS);
  const expired = oauthToken("some-service", { issuedAt: new Date(Date.now() - 2 * HOUR_MS), expiresAt: expiredAt });
  await expect(brokerIds({ sasl: token(expired) })).rejects.toThrow();
});

it("shows a certificate of its own authority, and speaks no plain text", async () => {
  const sasl = login("scram-sha-512") as SASLOptions;
  await expect(brokerIds({ sasl, ssl: { ca: new CertificateAuthority().cert } })).rejects.toThrow(/signature|verify/);
  await expect(brokerIds({ sasl, ssl: false })).rejects.toThrow();
  await expect(brokerIds({})).rejects.toThrow();
});

it("lets in on the operator's port whoever shows a certificate of that authority, and nobody else", async () => {
  const pem = await readFile(secured.operatorFile, "utf8");
  const broker = secured.operatorBroker;
  expect(await brokerIds({ broker, ssl: { ca, cert: pem, key: pem } })).toEqual([1]);
  const stranger = new CertificateAuthority().issue({ commonName: "operator" });
  await expect(brokerIds({ broker, ssl: { ca, ...stranger } })).rejects.toThrow();
  await expect(brokerIds({ broker })).rejects.toThrow();
});
