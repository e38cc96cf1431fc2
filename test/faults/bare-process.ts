/**
 * A bare kafkajs producer and a bare consumer group, with kafkajs's own settings, beside the system in a fault run: its
 * callers' view of the same fault. Arguments: brokers, topic, group. Tells one event a line, with its time: `a`
 * acknowledged, `r` refused, `c` consumed, `x` the consumer crashed. Ends when its standard input closes.
 */
import { Kafka, logLevel } from "kafkajs";
import { machineMs } from "./machine-clock.ts";

const EVERY_MS = 20;
/** As a caller that awaits its sends: a broker that does not answer holds it up. */
const MOST_OUTSTANDING = 5;

const [brokers = "", topic = "", groupId = ""] = process.argv.slice(2);
const kafka = new Kafka({ clientId: "bare", brokers: brokers.split(","), logLevel: logLevel.NOTHING });
const tell = (event: string): unknown => process.stdout.write(`${event} ${machineMs()}\n`);

process.stdin.resume();
process.stdin.once("close", () => process.exit());

const consumer = kafka.consumer({ groupId });
consumer.on(consumer.events.CRASH, () => tell("x"));
await consumer.connect();
await consumer.subscribe({ topics: [topic], fromBeginning: true });
await consumer.run({ eachMessage: async () => void tell("c") });

const producer = kafka.producer();
await producer.connect();
let [outstanding, sent] = [0, 0];
setInterval(() => {
  if (outstanding >= MOST_OUTSTANDING) return;
  outstanding += 1;
  sent += 1;
  producer
    .send({ topic, messages: [{ value: String(sent) }] })
    .then(
      () => tell("a"),
      () => tell("r"),
    )
    .finally(() => {
      outstanding -= 1;
    });
}, EVERY_MS);
