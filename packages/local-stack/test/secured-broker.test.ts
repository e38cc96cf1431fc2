import { readFile } from "node:fs/promises";
import { accessTable } from "@posthaste/contracts/access";
import { createTopicNames } from "@posthaste/contracts/topics";
import { CONNECT_PATIENCE_MS } from "@posthaste/testkit/broker";
import { CertificateAuthority } from "@posthaste/testkit/certificates";
import { oauthToken, type SecuredBroker, startSecuredBroker } from "@posthaste/testkit/secured-broker";
import kafkajs, { type AclEntry, Kafka, logLevel, type SASLOptions } from "kafkajs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { withAdmin } from "../src/broker/cluster-view.ts";
import { grantAccess } from "../src/services/kafka-access.ts";

const USER = { name: "some-service", password: "a password" };
const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;
const { LITERAL } = ResourcePatternTypes;
const EVERYTHING = {
  resourceType: AclResourceTypes.ANY,
  resourcePatternType: ResourcePatternTypes.ANY,
  operation: AclOperationTypes.ANY,
  permissionType: AclPermissionTypes.ANY,
};
const HOUR_MS = 3_600_000;

let secured: SecuredBroker;
let ca: string;

beforeAll(async () => {
  secured = await startSecuredBroker([USER]);
  ca = await readFile(secured.authorityFile, "utf8");
});

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
    connectionTimeout: CONNECT_PATIENCE_MS,
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

it("KA1: a user has what the newest table grants and nothing else, and a stranger's grants stay", async () => {
  const pem = await readFile(secured.operatorFile, "utf8");
  const tls = { ca, cert: pem, key: pem };
  const [address, brokers] = [secured.operatorBroker, [secured.broker]];
  const operator = { brokers: [address], controllers: [], tls };
  const stranger: AclEntry = {
    ...{ resourceType: AclResourceTypes.TOPIC, resourceName: "theirs", resourcePatternType: LITERAL },
    ...{ principal: "User:stranger", host: "*", operation: AclOperationTypes.READ },
    permissionType: AclPermissionTypes.ALLOW,
  };
  await withAdmin({ address, tls }, (admin) => admin.createAcls({ acl: [stranger] }));
  const grantsFor = async (prefix: string): Promise<readonly string[]> => {
    await grantAccess(brokers, { operator, names: createTopicNames(prefix), users: [USER] });
    const { resources } = await withAdmin({ address, tls }, (admin) => admin.describeAcls(EVERYTHING));
    return resources.flatMap(({ resourceName, acls }) => acls.map(({ principal }) => `${principal} ${resourceName}`));
  };
  const expected = (prefix: string): readonly string[] => [
    "User:stranger theirs",
    ...accessTable(createTopicNames(prefix)).flatMap(({ user, name, operations }) =>
      operations.map(() => `User:${user} ${name}`),
    ),
  ];
  expect([...(await grantsFor("first"))].sort()).toEqual([...expected("first")].sort());
  expect([...(await grantsFor("second"))].sort()).toEqual([...expected("second")].sort());
  expect([...(await grantsFor("second"))].sort()).toEqual([...expected("second")].sort());
});
