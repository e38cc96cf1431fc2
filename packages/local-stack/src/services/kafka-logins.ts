/**
 * The logins of the services at a secured Kafka. Each service has a password, which is made at the first start and kept
 * in the data folder.
 */
import { join } from "node:path";
import { KAFKA_USERS, type KafkaUser } from "@posthaste/contracts/access";
import type { User } from "../broker/secured-listeners.ts";
import { keepSecret, makePassword } from "./data-folder.ts";

export interface KafkaLogins {
  /**
   * The settings of a process that connects to Kafka as this user. The password is in a file, which only its owner
   * reads.
   */
  readonly settingsOf: (user: KafkaUser) => Readonly<Record<string, string>>;
}

/** Returns every user with its password from the folder. A missing password is made. */
export function keepUsers(dataDir: string): Promise<readonly User[]> {
  return Promise.all(
    KAFKA_USERS.map(async (name) => ({ name, password: await keepSecret(passwordFile(dataDir, name), makePassword) })),
  );
}

/** Returns the logins of the users in the folder. `authorityFile` holds the authority of the brokers' certificates. */
export function loginsOf(dataDir: string, authorityFile: string): KafkaLogins {
  return {
    settingsOf: (user) => ({
      KAFKA_TLS: "true",
      KAFKA_TLS_CA_FILE: authorityFile,
      KAFKA_SASL_MECHANISM: "scram-sha-512",
      KAFKA_SASL_USERNAME: user,
      KAFKA_SASL_PASSWORD_FILE: passwordFile(dataDir, user),
    }),
  };
}

function passwordFile(dataDir: string, user: KafkaUser): string {
  return join(dataDir, "kafka-passwords", user);
}
