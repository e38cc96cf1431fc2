/**
 * Asks questions of Kafka's protocol that kafkajs's admin cannot ask, or cannot ask while a broker is down: which node
 * is the active controller (DescribeQuorum), which coordinates a group (FindCoordinator), which offsets the group has
 * committed (OffsetFetch). Each question has a connection of its own.
 */
import { connect as connectTcp } from "node:net";
import { connect as connectTls } from "node:tls";
import type { OperatorTls } from "./operator-tls.ts";

const DESCRIBE_QUORUM = 55;
const FIND_COORDINATOR = 10;
const OFFSET_FETCH = 9;
/** A flexible structure ends with its count of tagged fields, and a flexible request's header with it. */
export const NO_TAGS = Buffer.from([0]);
const TIMEOUT_MS = 2_000;
const CLIENT_ID = "local-stack";
/** The topic in which the controllers keep the cluster's metadata. */
const METADATA_TOPIC = "__cluster_metadata";

/**
 * Asks the controller at `address` (`host:port`) for the node id of the active controller. Throws when the asked
 * controller is not the active one.
 */
export async function readActiveController(address: string, tls?: OperatorTls): Promise<number> {
  const name = Buffer.from(METADATA_TOPIC);
  // Flexible encoding: a length or count stands plus one, and each structure ends with its count of tagged fields.
  const request = Buffer.concat([Buffer.from([2, name.length + 1]), name, Buffer.from([2, 0, 0, 0, 0, 0, 0, 0])]);
  const answer = await ask(address, tls, {
    apiKey: DESCRIBE_QUORUM,
    version: 0,
    rest: Buffer.concat([NO_TAGS, request]),
  });
  // Tagged fields of the header, error code, count of topics, name, count of partitions, index, error code, leader.
  assertNoError("DescribeQuorum", answer.readInt16BE(1));
  const nameLength = answer.readUInt8(4) - 1;
  const partition = 5 + nameLength + 1;
  // A controller that is not the active one says so here, and names 0.
  assertNoError("DescribeQuorum", answer.readInt16BE(partition + 4));
  const leader = answer.readInt32BE(partition + 6);
  return leader;
}

/** Asks the broker at `address` for the node id of the group's coordinator. Throws while there is none. */
export async function readGroupCoordinator(address: string, groupId: string, tls?: OperatorTls): Promise<number> {
  const answer = await ask(address, tls, { apiKey: FIND_COORDINATOR, version: 0, rest: shortString(groupId) });
  assertNoError("FindCoordinator", answer.readInt16BE(0));
  return answer.readInt32BE(2);
}

/**
 * Returns the sum of all offsets that the group has committed, over every topic and partition. The sum rises with every
 * commit that moves an offset. Throws when the broker at `address` does not coordinate the group.
 */
export async function readCommittedSum(address: string, groupId: string, tls?: OperatorTls): Promise<number> {
  // A count of -1 asks for every topic.
  const allTopics = Buffer.from([255, 255, 255, 255]);
  const rest = Buffer.concat([shortString(groupId), allTopics]);
  return sumOfOffsets(await ask(address, tls, { apiKey: OFFSET_FETCH, version: 2, rest }));
}

/**
 * Adds up the offsets of an answer to OffsetFetch in version 2. Each partition counts once, since a coordinator that
 * hands its groups over while it stops was seen to name all partitions twice. Throws when the answer holds an error.
 */
export function sumOfOffsets(answer: Buffer): number {
  let at = 0;
  const readCount = (): number => {
    at += 4;
    return answer.readInt32BE(at - 4);
  };
  const readText = (): string => {
    const from = at + 2;
    at = from + Math.max(0, answer.readInt16BE(at));
    return answer.toString("utf8", from, at);
  };
  const offsets = new Map<string, number>();
  for (let topics = readCount(); topics > 0; topics -= 1) {
    const topic = readText();
    for (let partitions = readCount(); partitions > 0; partitions -= 1) {
      offsets.set(`${topic} ${answer.readInt32BE(at)}`, Number(answer.readBigInt64BE(at + 4)));
      at += 12;
      readText();
      assertNoError("OffsetFetch", answer.readInt16BE(at));
      at += 2;
    }
  }
  assertNoError("OffsetFetch", answer.readInt16BE(at));
  return [...offsets.values()].reduce((sum, offset) => sum + offset, 0);
}

export interface Request {
  readonly apiKey: number;
  readonly version: number;
  /** The bytes behind the client's id in the header: a flexible request's begin with the header's tagged fields. */
  readonly rest: Buffer;
}

/** Sends a request and answers the bytes behind the correlation id of its response. */
export async function ask(
  address: string,
  tls: OperatorTls | undefined,
  { apiKey, version, rest }: Request,
): Promise<Buffer> {
  const head = Buffer.alloc(8);
  head.writeInt16BE(apiKey, 0);
  head.writeInt16BE(version, 2);
  const message = Buffer.concat([head, shortString(CLIENT_ID), rest]);
  const size = Buffer.alloc(4);
  size.writeInt32BE(message.length);

  const colon = address.lastIndexOf(":");
  const to = { host: address.slice(0, colon), port: Number(address.slice(colon + 1)) };
  const socket = tls ? connectTls({ ...to, ...tls }) : connectTcp(to);
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error(`${address} did not answer in ${TIMEOUT_MS} ms`)));
  try {
    socket.write(Buffer.concat([size, message]));
    let received: Buffer = Buffer.alloc(0);
    for await (const chunk of socket) {
      received = Buffer.concat([received, chunk as Buffer]);
      if (received.length >= 4 && received.length >= 4 + received.readInt32BE(0)) return received.subarray(8);
    }
    throw new Error(`${address} closed the connection`);
  } finally {
    socket.destroy();
  }
}

/** Throws when the code is not 0. */
export function assertNoError(request: string, code: number): void {
  if (code !== 0) throw new Error(`${request} answered error ${code}`);
}

function shortString(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(2);
  length.writeInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
