/**
 * Makes the users of a secured cluster that log in by SCRAM, by AlterUserScramCredentials, which kafkajs does not have.
 */
import { pbkdf2Sync, randomBytes } from "node:crypto";
import { Kafka, logLevel } from "kafkajs";
import type { ClusterAddresses } from "./cluster-view.ts";
import { ask, assertNoError, NO_TAGS } from "./kafka-wire.ts";
import type { User } from "./secured-listeners.ts";

const ALTER_USER_SCRAM_CREDENTIALS = 51;

/**
 * The number of iterations: the least that Kafka takes. The passwords are random and long, so that a higher number
 * would slow down nobody but the services.
 */
const ITERATIONS = 4096;

const KNOWN_TIMEOUT_MS = 30_000;
/** A broker that has just started on a busy machine takes longer than kafkajs's own second. */
const CONNECT_TIMEOUT_MS = 10_000;
const POLL_MS = 50;

/** Kafka's number for the mechanism, Node's name for its hash, and the hash's length in bytes. */
const MECHANISMS = [
  { code: 1, hash: "sha256", bytes: 32 },
  { code: 2, hash: "sha512", bytes: 64 },
] as const;

type Mechanism = (typeof MECHANISMS)[number];

/**
 * Makes the users, or gives them these passwords, for both mechanisms of SCRAM. Resolves when the cluster has the
 * users; each broker knows of them a moment later. Throws when the cluster refuses a user.
 */
export async function putScramUsers(
  { brokers: [address = ""], tls }: ClusterAddresses,
  users: readonly User[],
): Promise<void> {
  // A request may alter each user once.
  for (const mechanism of MECHANISMS) {
    const upsertions = users.map((user) => upsertion(user, mechanism));
    const [deletions, count] = [compactLength(0), compactLength(upsertions.length)];
    const rest = Buffer.concat([NO_TAGS, deletions, count, ...upsertions, NO_TAGS]);
    // Any broker passes the request on to the active controller.
    assertDone(await ask(address, tls, { apiKey: ALTER_USER_SCRAM_CREDENTIALS, version: 0, rest }));
  }
}

/**
 * Resolves when every broker lets the last of the users in, and so all users: a broker learns of them in their order.
 * `brokers` are the addresses for clients, and `ca` is a PEM text. Rejects when a broker still refuses after
 * `KNOWN_TIMEOUT_MS`.
 */
export async function untilUsersAreKnown(
  { brokers, ca }: { readonly brokers: readonly string[]; readonly ca: string },
  users: readonly User[],
): Promise<void> {
  const last = users.at(-1);
  if (last === undefined) return;
  const sasl = { mechanism: "scram-sha-512", username: last.name, password: last.password } as const;
  const deadline = performance.now() + KNOWN_TIMEOUT_MS;
  const logIn = async (broker: string): Promise<void> => {
    const settings = {
      ...{ brokers: [broker], ssl: { ca }, sasl, logLevel: logLevel.NOTHING, retry: { retries: 0 } },
      connectionTimeout: CONNECT_TIMEOUT_MS,
    };
    for (;;) {
      const admin = new Kafka(settings).admin();
      const refusal = await admin.connect().then(
        () => undefined,
        (error: unknown) => error,
      );
      await admin.disconnect();
      if (refusal === undefined) return;
      if (performance.now() > deadline) throw refusal;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  };
  await Promise.all(brokers.map(logIn));
}

/** Makes the credentials that let a broker check the password. The password itself is not sent. */
function upsertion({ name, password }: User, { code, hash, bytes }: Mechanism): Buffer {
  const salt = randomBytes(32);
  const salted = pbkdf2Sync(password.normalize("NFKC"), salt, ITERATIONS, bytes, hash);
  const iterations = Buffer.alloc(4);
  iterations.writeInt32BE(ITERATIONS);
  const start = Buffer.concat([compactBytes(Buffer.from(name)), Buffer.from([code]), iterations]);
  return Buffer.concat([start, compactBytes(salt), compactBytes(salted), NO_TAGS]);
}

/**
 * Throws when the answer holds an error. The answer has the header's tagged fields, the throttle time, then each user's
 * error code and message.
 */
function assertDone(answer: Buffer): void {
  let at = 5;
  const readLength = (): number => {
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = answer.readUInt8(at);
      at += 1;
      length |= (byte & 0x7f) << shift;
      // A length or count is written plus one, and null is written as 0.
      if (byte < 0x80) return Math.max(0, length - 1);
    }
  };
  for (let left = readLength(); left > 0; left -= 1) {
    const name = readLength();
    const code = answer.readInt16BE(at + name);
    assertNoError(`AlterUserScramCredentials for ${answer.toString("utf8", at, at + name)}`, code);
    at += name + 2;
    const message = readLength();
    at += message + NO_TAGS.length;
  }
}

function compactBytes(bytes: Buffer): Buffer {
  return Buffer.concat([compactLength(bytes.length), bytes]);
}

/** The length plus one in seven bits a byte, the lowest first. */
function compactLength(length: number): Buffer {
  const bytes: number[] = [];
  let left = length + 1;
  for (; left >= 0x80; left >>>= 7) bytes.push((left & 0x7f) | 0x80);
  return Buffer.from([...bytes, left]);
}
