/**
 * A process's connection to the brokers. It makes every kafkajs client of the process, so that the liveness watch (L1)
 * sees all their sockets.
 *
 * Owns: the watch, and one admin client, which it connects at the first question. A client of `createClient` belongs to
 * its caller, which disconnects or destroys it.
 */
import { connect as connectTcp, isIP } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Log } from "@posthaste/core/log";
import type { Admin } from "kafkajs";
import { growEncodersLazily } from "../kafkajs/encoder-growth.ts";
import type { Cluster } from "../kafkajs/kafkajs-internals.ts";
import { decodeLazily } from "../kafkajs/lazy-decoding.ts";
import { takeLeaderlessPartitions } from "../kafkajs/leaderless-partitions.ts";
import { scheduleOnlyDueRequests } from "../kafkajs/request-queue-timer.ts";
import type { KafkaLogin } from "../login/login.ts";
import { isLoopback } from "../login/loopback.ts";
import { BROKERS_UNREACHABLE, BrokersReadiness, type BrokersState } from "./brokers-readiness.ts";
import type { BrokerAddress, Dial } from "./dial.ts";
import { type ClientOptions, type KafkaClient, WatchedKafkaClient } from "./kafka-client.ts";
import { LivenessWatch } from "./liveness.ts";
import type { KafkaMetrics } from "./metrics.ts";
import { SharedAdmin } from "./shared-admin.ts";

export interface KafkaConnectionOptions {
  /**
   * host:port of at least one broker. The watch knows brokers named here from the start, and others from the first
   * socket to them, so name all of them where possible.
   */
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly log: Log;
  readonly metrics?: KafkaMetrics;
  /** TLS settings of every connection, the watch's included, as PEM texts. Without them connections are plain TCP. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  /** The login of every connection, the watch's included. */
  readonly login?: KafkaLogin;
  /** Translates a broker's advertised address to one that this process can reach (port forwarding, tests). */
  readonly route?: (broker: BrokerAddress) => BrokerAddress;
  /** How long `withAdmin` repeats a question that no broker answers, in ms. Default `ADMIN_PATIENCE_MS`. */
  readonly adminPatienceMs?: number;
}

export interface KafkaConnection {
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly log: Log;
  readonly metrics: KafkaMetrics | undefined;
  /**
   * Makes a kafkajs client whose sockets the liveness watch sees (L1). The caller disconnects the producers, consumers
   * and admins that it makes from the client, or destroys the client.
   */
  createClient(options?: ClientOptions): KafkaClient;
  /**
   * Runs `use` on the connection's admin client and the cluster object that this client asks through. The connection
   * connects that client when it is first needed and replaces it when its connection fails. `use` runs again, for
   * `adminPatienceMs`, while no broker answers, so it must be safe to repeat.
   */
  withAdmin<R>(use: (admin: Admin, cluster: Cluster) => Promise<R>): Promise<R>;
  /** Brokers that the watch calls unresponsive: they do not answer, and another broker does (L1). */
  unresponsiveBrokers(): readonly string[];
  /** Brokers that answer the watch now. While there is none, nothing can be sent or read. */
  answeringBrokers(): readonly string[];
  /** For `/readyz`: true while a broker answers or did within the last three seconds; otherwise why not. */
  brokersState(): BrokersState;
  /** Ends the watch and the admin client. Clients that `createClient` made belong to their callers. */
  close(): Promise<void>;
}

const KEEP_ALIVE_MS = 60_000;

/** Starts the liveness watch. Every other connection is made when it is first needed. */
export function connectKafka(options: KafkaConnectionOptions): KafkaConnection {
  const { brokers, clientId, log, metrics, adminPatienceMs } = options;
  growEncodersLazily();
  decodeLazily();
  takeLeaderlessPartitions();
  scheduleOnlyDueRequests();
  const watch = new LivenessWatch({
    brokers: brokers.map(parseBroker),
    dial: createDial(options),
    login: options.login,
    onTick: () => readiness.tick(),
    onChange: (broker, isUnresponsive) => {
      metrics?.brokerUnresponsive.set({ broker }, isUnresponsive ? 1 : 0);
      if (isUnresponsive) log.warn({ event: "broker_unresponsive", broker }, "a broker hangs: its connections are cut");
      else log.info({ event: "broker_answers", broker }, "a broker that did not respond answers again");
    },
    onRefused: (broker, advice) => log.warn({ event: "broker_refuses", broker }, advice),
  });
  const readiness = new BrokersReadiness({
    answering: () => watch.answering(),
    refusals: () => watch.refusals(),
    onUnreachable: () => log.warn({ event: "brokers_unreachable", brokers }, BROKERS_UNREACHABLE),
  });
  warnOfClearText(options);
  for (const broker of brokers) metrics?.brokerUnresponsive.set({ broker }, 0);

  const createClient = (client: ClientOptions = {}) => new WatchedKafkaClient(options, watch, client);
  const admin = new SharedAdmin({
    createClient,
    brokers,
    ...(adminPatienceMs === undefined ? {} : { patienceMs: adminPatienceMs }),
  });

  return {
    brokers,
    clientId,
    log,
    metrics,
    createClient,
    withAdmin: (use) => admin.use(use),
    unresponsiveBrokers: () => watch.unresponsive(),
    answeringBrokers: () => watch.answering(),
    brokersState: () => readiness.state,
    close: async () => {
      await admin.close();
      watch.close();
    },
  };
}

function createDial({ tls, route = (broker) => broker }: KafkaConnectionOptions): Dial {
  return (broker, onConnect) => {
    const { host, port } = route(broker);
    const socket = tls
      ? connectTls({ host, port, ...(isIP(broker.host) ? {} : { servername: broker.host }), ...tls }, onConnect)
      : connectTcp({ host, port }, onConnect);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    return socket;
  };
}

/**
 * Warns of a login that anyone on the network path can read and use: a password of PLAIN, or a token, without TLS.
 * SCRAM sends neither.
 */
function warnOfClearText({ brokers, tls, login, log }: KafkaConnectionOptions): void {
  if (tls !== undefined || (login?.mechanism !== "plain" && login?.mechanism !== "oauthbearer")) return;
  const exposed = brokers.filter((broker) => !isLoopback(parseBroker(broker).host));
  if (exposed.length === 0) return;
  log.warn(
    { event: "login_in_clear_text", brokers: exposed },
    `KAFKA_SASL_MECHANISM=${login.mechanism} without TLS: whoever is on the way to the brokers can read it; set KAFKA_TLS to true`,
  );
}

/** Splits host:port. The host may be an IPv6 literal without brackets. */
function parseBroker(broker: string): BrokerAddress {
  const colon = broker.lastIndexOf(":");
  return { host: broker.slice(0, colon), port: Number(broker.slice(colon + 1)) };
}
