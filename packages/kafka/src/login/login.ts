/**
 * How this process logs in at a broker, by each SASL mechanism. kafkajs's connections and the probes of the liveness
 * watch both log in through this file.
 *
 * kafkajs's own mechanisms are not used. They report a connection that was lost during the login as a refused login,
 * which kafkajs never tries again, and a token that the broker refused as a token that the broker took.
 */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { PosthasteError } from "@posthaste/core/errors";
import { type Exchange, runScram } from "./scram.ts";

/** The credentials of a login and its SASL mechanism. */
export type KafkaLogin =
  | {
      readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512";
      readonly username: string;
      readonly password: string;
    }
  | {
      readonly mechanism: "oauthbearer";
      /** Path of a file that holds the token. Each login reads it. */
      readonly tokenFile: string;
    };

/** Advice for a process that tries to log in at a listener without SASL. */
export const NO_LOGIN =
  "the broker has no login on this port: leave KAFKA_SASL_MECHANISM out, or name the port of a SASL listener in KAFKA_BROKERS";

/** The mechanism's name in Kafka's protocol. */
export function mechanismName({ mechanism }: KafkaLogin): string {
  return mechanism.toUpperCase();
}

/**
 * Sends the login's messages over `exchange`. Rejects as `exchange` does, and with a `broker_refuses` that carries
 * advice: when the token's file cannot be read, when the broker refuses the token, and when the broker cannot prove
 * that it knows the password (SCRAM).
 */
export async function runLogin(login: KafkaLogin, exchange: Exchange): Promise<void> {
  switch (login.mechanism) {
    case "plain":
      await exchange(Buffer.from(`\0${login.username}\0${login.password}`));
      return;
    case "scram-sha-256":
    case "scram-sha-512": {
      const { username, password } = login;
      const digest = login.mechanism === "scram-sha-256" ? "sha256" : "sha512";
      await runScram({ digest, username, password, nonce: randomBytes(18).toString("base64") }, exchange);
      return;
    }
    case "oauthbearer":
      await runToken(login.tokenFile, exchange);
      return;
  }
}

/** A login by a token (RFC 7628). */
async function runToken(tokenFile: string, exchange: Exchange): Promise<void> {
  const token = await readToken(tokenFile);
  const answer = await exchange(Buffer.from(`n,,\x01auth=Bearer ${token}\x01\x01`));
  if (answer.length === 0) return;
  // A broker answers a refused token with an error code of 0 and the reason as the message. It ends the login once the
  // client has confirmed the reason with a byte of value 1.
  await exchange(Buffer.of(1)).catch(() => {});
  // The token is masked before the cut, which would leave the start of a token that the broker repeats.
  const words = answer.toString().replaceAll(token, "***").slice(0, 200);
  throw refused(`${tokenAdvice(tokenFile)} (the broker says ${words})`);
}

async function readToken(tokenFile: string): Promise<string> {
  const text = await readFile(tokenFile, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw refused(`KAFKA_SASL_TOKEN_FILE: ${tokenFile} cannot be read (${error.code}): put a token there`);
  });
  const token = text.trim();
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw refused(`KAFKA_SASL_TOKEN_FILE: ${tokenFile} holds no token: put one there, in one line`);
}

function tokenAdvice(tokenFile: string): string {
  return `the broker does not take the token of KAFKA_SASL_TOKEN_FILE: put one into ${tokenFile} that has not expired and is for these brokers`;
}

/** Advice when the broker refused the credentials, with the broker's own words. */
export function refusedLogin(login: KafkaLogin, words: string): PosthasteError {
  const advice =
    login.mechanism === "oauthbearer"
      ? tokenAdvice(login.tokenFile)
      : `the broker does not take KAFKA_SASL_USERNAME ${login.username} with its password by ${login.mechanism}: set KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD to a user that it knows`;
  return refused(`${advice} (the broker says ${words})`);
}

/**
 * Advice when the listener does not know the mechanism. `offered` names the mechanisms that the listener knows; it is
 * empty where the listener has no login.
 */
export function refusedMechanism({ mechanism }: KafkaLogin, offered: readonly string[]): PosthasteError {
  const names = offered.map((each) => each.toLowerCase()).join(", ");
  return refused(
    names === ""
      ? NO_LOGIN
      : `the broker does not take KAFKA_SASL_MECHANISM=${mechanism}: set it to one of ${names}, or let the listener take it`,
  );
}

/** The error is retryable: an operator can mend it at the brokers or in the token's file without a restart here. */
function refused(message: string): PosthasteError {
  return new PosthasteError("broker_refuses", message, { retryable: true });
}
