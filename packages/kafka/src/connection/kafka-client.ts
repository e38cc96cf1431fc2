/** A kafkajs client whose sockets its owner can destroy. */
import type { Kafka, RetryOptions } from "kafkajs";

/** What a kafkajs client is made with beside the connection's own settings. */
export interface ClientOptions {
  /** Ms without an answer after which kafkajs gives a request up. Default 30,000. */
  readonly requestTimeoutMs?: number;
  /** Brokers in the order to try them, those first that answer the watch; default is the connection's. */
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
