/**
 * One stage of the bare pipeline (bare-pipeline.ts), a process of its own: plain kafkajs and `node:http`, and nothing
 * that a delivery needs beyond them. Records that come while a request to the broker is out go with the next one.
 *
 * Arguments: the stage and its settings as JSON. Prints a line when it works: the port, of `accept`.
 */
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { Kafka, logLevel, type Message } from "kafkajs";
import type { BareStage } from "./bare-pipeline.ts";

const CONNECTIONS = 64;
const FETCH = { maxWaitTimeInMs: 20, maxBytesPerPartition: 512 * 1024, maxBytes: 4 * 1024 * 1024 };

const { stage, brokers, from, to, url } = JSON.parse(process.argv[2] ?? "{}") as BareStage;
const kafka = new Kafka({ clientId: `bare-${stage}`, brokers: [...brokers], logLevel: logLevel.NOTHING });

/** Puts a message into the stage's topic; resolves when every in-sync replica has it. */
async function openTopic(): Promise<(message: Message) => Promise<void>> {
  const producer = kafka.producer();
  await producer.connect();
  let waiting: { readonly message: Message; readonly resolve: () => void }[] = [];
  let isOut = false;
  const send = async () => {
    isOut = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await producer.send({ topic: to, acks: -1, messages: batch.map(({ message }) => message) });
      for (const { resolve } of batch) resolve();
    }
    isOut = false;
  };
  return (message) =>
    new Promise((resolve, reject) => {
      waiting.push({ message, resolve });
      if (!isOut) send().catch(reject);
    });
}

/** Hands on every record, all of a batch at once. */
async function consume(each: (key: Buffer, value: Buffer) => Promise<void>): Promise<void> {
  const consumer = kafka.consumer({ groupId: `${from}-${stage}`, ...FETCH });
  await consumer.connect();
  await consumer.subscribe({ topics: [from], fromBeginning: true });
  const { promise, resolve } = Promise.withResolvers<void>();
  consumer.on(consumer.events.GROUP_JOIN, () => resolve());
  await consumer.run({
    partitionsConsumedConcurrently: 6,
    eachBatch: async ({ batch }) => {
      await Promise.all(
        batch.messages.map(({ key, value }) => (key === null || value === null ? undefined : each(key, value))),
      );
    },
  });
  await promise;
}

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
function post(key: Buffer, value: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { "x-message-id": key.toString(), "content-length": String(value.length) };
    const sent = request(url, { method: "POST", agent, headers }, (response) => {
      response.resume();
      response.once("end", resolve);
    });
    sent.once("error", reject);
    sent.end(value);
  });
}

async function accept(): Promise<number> {
  const put = await openTopic();
  const server = createServer((call, response) => {
    const chunks: Buffer[] = [];
    call.on("data", (chunk: Buffer) => chunks.push(chunk));
    call.on("end", () => {
      const value = Buffer.concat(chunks);
      const { messageId } = JSON.parse(value.toString()) as { readonly messageId: string };
      put({ key: messageId, value }).then(
        () => response.writeHead(200, { "content-type": "application/json" }).end(`{"success":true}`),
        () => response.writeHead(503).end(),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

let port = 0;
if (stage === "accept") port = await accept();
if (stage === "route") {
  const put = await openTopic();
  await consume((key, value) => put({ key, value }));
}
if (stage === "post") await consume(post);
process.stdout.write(`${port}\n`);
process.stdin.on("end", () => process.exit()).resume();
