/**
 * An installation over a Kafka that authenticates its clients, for a whole test file.
 *
 * Owns: the installation, its receiver, and each connection that it makes as the operator for as long as that works.
 */
import { SILENT_LOG } from "@posthaste/core/log";
import { connectKafka, type KafkaConnection } from "@posthaste/kafka/connection/connect";
import type { SecuredKafka } from "@posthaste/local-stack/prepared-stack";
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { afterAll, beforeAll } from "vitest";
import { type Authorization, readAuthorizations } from "./authorizer-log.ts";
import { type Installation, startInstallation } from "./installation.ts";

export const RETRY_DELAY_MS = 250;
/** Few: the broker logs each partition of each request. */
export const PARTITIONS = 2;
const SETTINGS = {
  ...{ POSTHASTE_RETRY_SCHEDULE: `${RETRY_DELAY_MS}ms`, POSTHASTE_RETRY_WINDOW: "10s" },
  POSTHASTE_PARTITIONS: String(PARTITIONS),
};

/** The installation of the running file. */
export let installation: Installation;
export let secured: SecuredKafka;
export let receiver: Receiver;

/** To be called at the top of a test file. */
export function useSecuredInstallation(): void {
  beforeAll(async () => {
    [installation, receiver] = await Promise.all([
      startInstallation({ secured: true, settings: SETTINGS }),
      startReceiver(),
    ]);
    if (!installation.system.stack.secured) throw new Error("the stack is not secured");
    secured = installation.system.stack.secured;
  }, 120_000);

  afterAll(async () => {
    await installation?.close();
    await receiver?.close();
  });
}

/** The broker's grants and denials so far. */
export const authorizations = (): Promise<readonly Authorization[]> =>
  readAuthorizations(installation.system.process("kafka-1").logFile);

/** With a connection that may do all. */
export async function asOperator<T>(work: (connection: KafkaConnection) => Promise<T>): Promise<T> {
  const { brokers, tls } = secured.operator;
  const connection = connectKafka({ brokers, clientId: "e2e", log: SILENT_LOG, ...(tls ? { tls } : {}) });
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}
