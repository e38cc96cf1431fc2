/**
 * One connection of the liveness watch: it logs in where the listener wants a login, then asks the broker for its API
 * versions again and again. The login is needed because a SASL listener answers one ApiVersions request before the
 * handshake and cuts the connection at the second.
 *
 * Owns: the socket, and the one request that may be out on it. The probe is
 * - *connecting* until the socket can be written to (with TLS: until the end of its handshake);
 * - *logging in*, where a login is configured, until the broker accepted it;
 * - *asked* from sending ApiVersions to its answer;
 * - *idle* from then on, until `ask` sends the next ApiVersions, or first a new login (BP3);
 * - *closed* for good, when the connection fails, the broker refuses this process, or `close` is called.
 * BP1  The probe has one request out at a time; the next frame is its answer.
 * BP2  Only an answer to ApiVersions counts as an answer: a broker that refuses the login does not answer. `onSeen` is
 *      called for every frame, so that a login of many steps does not look like a hang.
 * BP3  Before the broker ends the login (`connections.max.reauth.ms`, or the end of a token) the probe logs in again on
 *      the same connection.
 * - Where the operator can mend a refusal, the probe calls `onRefused` with advice, and then closes. Any other failure
 *   of the connection closes the probe silently.
 */
import type { Socket } from "node:net";
import { isPosthasteError, PosthasteError } from "@posthaste/core/errors";
import type { Clock } from "@posthaste/core/time";
import { type KafkaLogin, mechanismName, refusedLogin, refusedMechanism, runLogin } from "../login/login.ts";
import {
  API_VERSIONS_REQUEST,
  decodeAuthenticate,
  decodeHandshake,
  encodeAuthenticate,
  encodeHandshake,
} from "../login/sasl-request.ts";
import { BROKER_REQUIRES_TLS, brokerTlsRefusal } from "../login/tls-refusal.ts";
import type { BrokerAddress, Dial } from "./dial.ts";
import { SYSTEM_CLOCK } from "./system-clock.ts";

export interface ProbeOptions {
  readonly address: BrokerAddress;
  readonly dial: Dial;
  /** Undefined where the listener wants no login. */
  readonly login: KafkaLogin | undefined;
  readonly onSeen: () => void;
  readonly onAnswer: () => void;
  readonly onRefused: (advice: string) => void;
  readonly clock?: Clock;
}

/** The probe logs in again after this part of a login's lifetime; a slow broker has the rest of it to answer. */
const LOGIN_LIFE_USED = 0.8;
const LENGTH_BYTES = 4;
/** No answer to ApiVersions or to a login is longer: bytes that announce a longer frame are not of Kafka's protocol. */
const MAX_FRAME_BYTES = 1024 * 1024;
/** The first byte of the TLS alert that a TLS listener sends to a client that speaks plain TCP. */
const TLS_ALERT = 0x15;

/**
 * Two causes look the same: a listener that wants a login cuts each connection at its second request, and so may a
 * broker that is stopping.
 */
const CUT_ADVICE =
  "the broker closes each connection at its second request: it may want a login, set KAFKA_SASL_MECHANISM, or name the port of a listener without one in KAFKA_BROKERS";
const HANDSHAKE_CUT_ADVICE =
  "the broker closes each connection in TLS's handshake: it may not speak TLS on this port, set KAFKA_TLS to false, or name the port of a listener with TLS in KAFKA_BROKERS";

export class BrokerProbe {
  readonly #options: ProbeOptions;
  readonly #clock: Clock;
  readonly #socket: Socket;
  #state: "connecting" | "logging in" | "idle" | "asked" | "closed" = "connecting";
  #received: Buffer = Buffer.alloc(0);
  #answers = 0;
  #cutInHandshake = false;
  #loginDueMs = Number.POSITIVE_INFINITY;
  /** Settles the step of the login that waits for the next frame; null when no login is under way. */
  #loginStep: { resolve(answer: Buffer): void; reject(error: Error): void } | null = null;

  constructor(options: ProbeOptions) {
    this.#options = options;
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    this.#socket = options.dial(options.address, () => this.#logInAndAsk());
    this.#socket.unref();
    this.#socket.on("error", (error) => {
      if ("code" in error && error.code === "ECONNRESET") this.#noteCut();
      const advice = brokerTlsRefusal(error);
      if (advice !== undefined) this.#options.onRefused(advice);
      this.close();
    });
    // A broker that closes its side would otherwise leave a half-open connection on which the probe waits for ever.
    this.#socket.on("end", () => {
      this.#noteCut();
      this.close();
    });
    this.#socket.on("close", () => this.close());
    this.#socket.on("data", (bytes) => this.#receive(bytes));
  }

  get isClosed(): boolean {
    return this.#state === "closed";
  }

  /** True while the broker has to do its part: of the TLS handshake, of a step of the login, or of ApiVersions. */
  get awaitsAnswer(): boolean {
    return this.#state !== "idle" && this.#state !== "closed";
  }

  /** How many ApiVersions requests the broker answered on this connection. */
  get answers(): number {
    return this.#answers;
  }

  /**
   * After the probe closed: its likely cause, which the watch believes only when the next probe closes in the same way.
   */
  get suspicion(): string | null {
    if (this.#cutInHandshake) return HANDSHAKE_CUT_ADVICE;
    return this.#options.login === undefined && this.#answers === 1 ? CUT_ADVICE : null;
  }

  /** Sends ApiVersions if the probe is idle, and does nothing otherwise. */
  ask(): void {
    if (this.#state === "idle") this.#logInAndAsk();
  }

  close(): void {
    this.#state = "closed";
    this.#socket.destroy();
    this.#loginStep?.reject(new PosthasteError("broker_unavailable", "the connection was closed", { retryable: true }));
    this.#loginStep = null;
  }

  /** Sends ApiVersions, after a login where one is due (BP3). */
  #logInAndAsk(): void {
    if (this.#state === "closed") return;
    const { login } = this.#options;
    const isDue = this.#state === "connecting" || this.#clock.monotonicMs() >= this.#loginDueMs;
    if (login === undefined || !isDue) {
      this.#sendApiVersions();
      return;
    }
    this.#state = "logging in";
    this.#logIn(login).then(
      () => {
        if (this.#state !== "closed") this.#sendApiVersions();
      },
      (error: unknown) => {
        if (this.#state === "closed") return;
        if (isPosthasteError(error)) this.#options.onRefused(error.message);
        this.close();
      },
    );
  }

  #noteCut(): void {
    if (this.#state === "connecting") this.#cutInHandshake = true;
  }

  #sendApiVersions(): void {
    this.#state = "asked";
    this.#socket.write(API_VERSIONS_REQUEST);
  }

  async #logIn(login: KafkaLogin): Promise<void> {
    const { errorCode, mechanisms } = decodeHandshake(await this.#request(encodeHandshake(mechanismName(login))));
    if (errorCode !== 0) throw refusedMechanism(login, mechanisms);
    await runLogin(login, async (message) => {
      const answer = decodeAuthenticate(await this.#request(encodeAuthenticate(message)));
      if (answer.errorCode !== 0) throw refusedLogin(login, answer.words);
      const lifeMs = answer.lifetimeMs > 0 ? answer.lifetimeMs : Number.POSITIVE_INFINITY;
      this.#loginDueMs = this.#clock.monotonicMs() + LOGIN_LIFE_USED * lifeMs;
      return answer.message;
    });
  }

  #request(request: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#loginStep = { resolve, reject };
      this.#socket.write(request);
    });
  }

  #receive(bytes: Buffer): void {
    this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes]);
    while (this.#received.length >= LENGTH_BYTES && !this.isClosed) {
      const length = this.#received.readInt32BE(0);
      if (length < LENGTH_BYTES || length > MAX_FRAME_BYTES) {
        if (this.#received[0] === TLS_ALERT) this.#options.onRefused(BROKER_REQUIRES_TLS);
        this.close();
        return;
      }
      if (this.#received.length < LENGTH_BYTES + length) return;
      const frame = this.#received.subarray(LENGTH_BYTES, LENGTH_BYTES + length);
      this.#received = this.#received.subarray(LENGTH_BYTES + length);
      this.#onFrame(frame);
    }
  }

  /** Passes a frame to the request that it answers (BP1, BP2). */
  #onFrame(frame: Buffer): void {
    this.#options.onSeen();
    const step = this.#loginStep;
    if (step !== null) {
      this.#loginStep = null;
      step.resolve(frame);
    } else if (this.#state === "asked") {
      this.#state = "idle";
      this.#answers += 1;
      this.#options.onAnswer();
    }
  }
}
