/**
 * One connection of the liveness watch: asks a broker whether it lives, after a login where the listener wants one. A
 * SASL listener answers a single ApiVersions before the handshake, so a probe that never logged in would be cut at its
 * second question.
 *
 * Owns: the socket, and the one request that may be out on it. The probe is *connecting* (TLS handshake included),
 * *logging in*, *idle*, *asked* or *closed*.
 * BP1  One request is out at a time; its answer is the next frame.
 * BP2  Only the answer to a question behind the login counts: a broker that refuses this process answers nobody.
 *      `onHeard` is called for every frame, so that a login in many steps does not look like a hang.
 * BP3  Before the broker ends the login (`connections.max.reauth.ms`, a token's end) the probe logs in anew on the same
 *      connection.
 * BP4  `onRefused` says what to change, where something can be changed; then the probe is closed. When the connection
 *      just fails the probe is closed without a word.
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
import { BROKER_WANTS_TLS, brokerTlsRefusal } from "../login/tls-refusal.ts";
import type { BrokerAddress, Dial } from "./dial.ts";
import { SYSTEM_CLOCK } from "./system-clock.ts";

export interface ProbeOptions {
  readonly address: BrokerAddress;
  readonly dial: Dial;
  /** None where the listener wants none. */
  readonly login: KafkaLogin | undefined;
  readonly onHeard: () => void;
  readonly onAnswer: () => void;
  readonly onRefused: (advice: string) => void;
  readonly clock?: Clock;
}

/** Of a login's life, the part after which it is made anew; the rest is for a broker that is slow. */
const LOGIN_LIFE_USED = 0.8;
const LENGTH_BYTES = 4;
/** No answer to what is asked here is longer; what is, is no frame. */
const MAX_FRAME_BYTES = 1024 * 1024;
/** The first byte of what TLS sends when it is spoken to without. */
const TLS_ALERT = 0x15;

/** What a listener of another kind does, and a broker that stops. */
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
  /** Takes the answer to a login's step. */
  #step: { resolve(answer: Buffer): void; reject(error: Error): void } | null = null;

  constructor(options: ProbeOptions) {
    this.#options = options;
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    this.#socket = options.dial(options.address, () => this.#prove());
    this.#socket.unref();
    this.#socket.on("error", (error) => {
      if ("code" in error && error.code === "ECONNRESET") this.#noteCut();
      const advice = brokerTlsRefusal(error);
      if (advice !== undefined) this.#options.onRefused(advice);
      this.close();
    });
    // A broker that closes its side would otherwise leave a half-open probe that is never asked again.
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

  /** The broker owes something: a handshake, a step of a login, an answer. */
  get isOwed(): boolean {
    return this.#state !== "idle" && this.#state !== "closed";
  }

  /** Questions that this connection had an answer to. */
  get answers(): number {
    return this.#answers;
  }

  /** Of a closed probe: what it may be if the next is closed so too. */
  get suspicion(): string | null {
    if (this.#cutInHandshake) return HANDSHAKE_CUT_ADVICE;
    return this.#options.login === undefined && this.#answers === 1 ? CUT_ADVICE : null;
  }

  /** Asks once, when nothing is owed. */
  ask(): void {
    if (this.#state === "idle") this.#prove();
  }

  close(): void {
    this.#state = "closed";
    this.#socket.destroy();
    this.#step?.reject(new PosthasteError("broker_unavailable", "the connection was closed", { retryable: true }));
    this.#step = null;
  }

  /** BP3: a login first, where one is due. */
  #prove(): void {
    if (this.#state === "closed") return;
    const { login } = this.#options;
    const isDue = this.#state === "connecting" || this.#clock.monotonicMs() >= this.#loginDueMs;
    if (login === undefined || !isDue) {
      this.#question();
      return;
    }
    this.#state = "logging in";
    this.#logIn(login).then(
      () => {
        if (this.#state !== "closed") this.#question();
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

  #question(): void {
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
      this.#step = { resolve, reject };
      this.#socket.write(request);
    });
  }

  #receive(bytes: Buffer): void {
    this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes]);
    while (this.#received.length >= LENGTH_BYTES && !this.isClosed) {
      const length = this.#received.readInt32BE(0);
      if (length < LENGTH_BYTES || length > MAX_FRAME_BYTES) {
        if (this.#received[0] === TLS_ALERT) this.#options.onRefused(BROKER_WANTS_TLS);
        this.close();
        return;
      }
      if (this.#received.length < LENGTH_BYTES + length) return;
      const frame = this.#received.subarray(LENGTH_BYTES, LENGTH_BYTES + length);
      this.#received = this.#received.subarray(LENGTH_BYTES + length);
      this.#take(frame);
    }
  }

  /** BP1, BP2. */
  #take(frame: Buffer): void {
    this.#options.onHeard();
    const step = this.#step;
    if (step !== null) {
      this.#step = null;
      step.resolve(frame);
    } else if (this.#state === "asked") {
      this.#state = "idle";
      this.#answers += 1;
      this.#options.onAnswer();
    }
  }
}
