/**
 * A kafkajs client whose sockets the liveness watch sees and the client's owner can destroy.
 *
 * Owns: the open sockets of one client.
 */
import type { Socket } from "node:net";
import type { Log } from "@posthaste/core/log";
import { Kafka, type LogEntry, logLevel, type RetryOptions } from "kafkajs";
import type { KafkaLogin } from "../login/login.ts";
import { kafkajsLogin } from "./kafkajs-login.ts";
import { type LivenessWatch, refusedSocket } from "./liveness.ts";
import { answeringFirst } from "./seed-brokers.ts";

/** The options of one kafkajs client, beside the connection's own settings. */
export interface ClientOptions {
  /** Ms after which kafkajs gives up a request without an answer. Default 30,000. */
  readonly requestTimeoutMs?: number;
  /**
   * Brokers in the order in which kafkajs tries them, after those that answer the watch were moved to the front.
   * Default: the connection's brokers.
   */
  readonly brokers?: readonly string[];
  /** kafkajs's own retries. Default: none, since the caller decides which requests are sent again. */
  readonly retry?: RetryOptions;
}

/** One kafkajs client and the sockets that it opened. */
export interface KafkaClient {
  readonly kafka: Kafka;
  /** Destroys the client's sockets at once and refuses to open others. It waits for no request that is out. */
  destroy(): void;
}

/** The settings that every client of a connection has in common. */
export interface ClientSettings {
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly log: Log;
  readonly login?: KafkaLogin;
}

/** A TCP connect that takes longer than this has lost its packets: kafkajs tries another broker. */
const CONNECT_TIMEOUT_MS = 2000;
const REQUEST_TIMEOUT_MS = 30_000;

export class WatchedKafkaClient implements KafkaClient {
  readonly kafka: Kafka;
  readonly #watch: LivenessWatch;
  readonly #sockets = new Set<Socket>();
  #isDestroyed = false;

  /** Opens no connection: kafkajs does that when it needs one. */
  constructor(settings: ClientSettings, watch: LivenessWatch, options: ClientOptions) {
    this.#watch = watch;
    const { clientId, login, log } = settings;
    const brokers = answeringFirst(options.brokers ?? settings.brokers, watch.answering());
    this.kafka = new Kafka({
      clientId,
      // An empty list ends kafkajs's search for a broker, which otherwise goes on after its consumer was disconnected.
      brokers: options.retry ? () => (this.#isDestroyed ? [] : brokers) : brokers,
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
      retry: options.retry ?? { retries: 0 },
      ...(login ? { sasl: kafkajsLogin(login) } : {}),
      logLevel: logLevel.WARN,
      logCreator: () => (entry) => logKafkajs(log, entry),
      socketFactory: ({ host, port, onConnect }) => this.#open(host, port, onConnect),
    });
  }

  destroy(): void {
    this.#isDestroyed = true;
    // kafkajs listens for `error` and `end`, and would wait for ever after a bare `close`: so the sockets end with an
    // error.
    for (const socket of this.#sockets) socket.destroy(new Error("the client was thrown away"));
  }

  #open(host: string, port: number, onConnect: () => void): Socket {
    if (this.#isDestroyed) return refusedSocket(`${host}:${port}`);
    const socket = this.#watch.open({ host, port }, onConnect);
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    return socket;
  }
}

/**
 * kafkajs logs every refused connect as an error. The code that decides about a failure logs it, so this line is debug.
 */
function logKafkajs(log: Log, { namespace, log: { message, timestamp: _, ...fields } }: LogEntry): void {
  log.debug({ event: "kafkajs", namespace, ...fields }, message);
}
