/** One process's way to the brokers. */
import type { ConnectionOptions } from "node:tls";
import type { Log } from "@posthaste/core/log";
import type { Admin, Kafka, RetryOptions, SASLOptions } from "kafkajs";
import type { KafkaMetrics } from "./metrics.ts";

export interface KafkaConnectionOptions {
  /** host:port of at least one broker; all of them where possible, since those named are watched from the start. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly log: Log;
  readonly metrics?: KafkaMetrics;
  /** TLS settings of every connection, the watch's included; plain TCP when absent. */
  readonly tls?: ConnectionOptions;
  readonly sasl?: SASLOptions;
  /** Where a broker is reached, when that is not where it says (port forwarding, tests). */
  readonly route?: (broker: BrokerAddress) => BrokerAddress;
}

export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
}

/** What a kafkajs client is made with beside the connection's own settings. */
export interface ClientOptions {
  /** Ms without an answer after which kafkajs gives a request up. Default 30,000. */
  readonly requestTimeoutMs?: number;
  /** Brokers in the order to try them; default is the connection's. */
  readonly brokers?: readonly string[];
  /** kafkajs's own retries; none by default, since whoever sends decides what is sent again. */
  readonly retry?: RetryOptions;
}

/** One kafkajs client and the sockets that it opened. */
export interface KafkaClient {
  readonly kafka: Kafka;
  /** Destroys its sockets at once and refuses new ones: nothing of it is waited for. */
  destroy(): void;
}

export interface KafkaConnection {
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly log: Log;
  readonly metrics: KafkaMetrics | undefined;
  /** A client whose sockets stand under the liveness watch (L1). The caller disconnects what it makes from it, or destroys the client. */
  createClient(options?: ClientOptions): KafkaClient;
  /** Runs one question or change on the connection's admin client, which is connected when needed and replaced after a failure of the connection. */
  withAdmin<R>(use: (admin: Admin) => Promise<R>): Promise<R>;
  /** Brokers that are silent now (L1). */
  silentBrokers(): readonly string[];
  /** Ends the watch and the admin client; clients made by `createClient` belong to their callers. */
  close(): Promise<void>;
}

/** Starts the liveness watch; connects nothing else yet. */
export function connectKafka(_options: KafkaConnectionOptions): KafkaConnection {
  throw new Error("not written");
}
