/**
 * One secured broker for a test, as a process: every way to log in, TLS, nothing granted or denied. Reads its users as
 * JSON from the first line of its standard input, prints the fields of the testkit's `SecuredBroker` as one line when
 * it is up, and ends when its standard input closes. Its data goes with it.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { prepareKafka } from "./broker/kafka-processes.ts";
import { OPERATOR } from "./broker/operator-tls.ts";
import { putScramUsers, untilUsersAreKnown } from "./broker/scram-users.ts";
import { SASL_MECHANISMS, type User } from "./broker/secured-listeners.ts";
import { findJavaParts } from "./parts/java-parts.ts";
import { scratchFolder } from "./process/scratch-folder.ts";
import { findWarmStart } from "./stack/warm-start.ts";

const input = createInterface({ input: process.stdin });
// A signal to the terminal's group would leave the data, which may lie in memory.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => input.close());
const closed = once(input, "close");
const [line] = await once(input, "line");
const users = JSON.parse(String(line)) as readonly User[];
const dataDir = await mkdtemp(join(scratchFolder(process.env), "posthaste-secured-broker-"));

try {
  const { env } = process;
  const parts = await findJavaParts({ env, log: (text) => process.stderr.write(`secured broker: ${text}\n`) });
  // Made by the run's own stack: a test does not wait for it.
  const warm = await findWarmStart(parts);
  const kafka = await prepareKafka({
    ...{ jars: parts.kafka, classes: warm.kafkaClasses, formatted: warm.formatted },
    dataDir,
    count: 1,
    shortLived: true,
    security: { mechanisms: SASL_MECHANISMS, ungranted: "everything", plainUsers: users },
    env,
    onUnexpectedExit: (name, reason) => {
      process.stderr.write(`secured broker: ${name} ended by itself (${reason})\n`);
      process.exitCode = 1;
    },
  });
  const [broker] = kafka.processes;
  await broker?.start();
  await putScramUsers(kafka.operator, users);
  await untilUsersAreKnown({ brokers: kafka.addresses.brokers, ca: kafka.operator.tls?.ca ?? "" }, users);
  const reported = {
    broker: kafka.addresses.brokers[0],
    operatorBroker: kafka.operator.brokers[0],
    authorityFile: kafka.authorityFile,
    operatorFile: join(dataDir, "tls", `${OPERATOR}.pem`),
    pid: broker?.pid,
  };
  process.stdout.write(`${JSON.stringify(reported)}\n`);
  await closed;
  await broker?.kill();
} catch (error) {
  process.stderr.write(`secured broker: ${String(error)}\n`);
  process.exitCode = 1;
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
process.exit();
