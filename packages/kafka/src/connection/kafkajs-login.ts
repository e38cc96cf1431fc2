/**
 * Gives our logins to kafkajs as an authentication mechanism. kafkajs's consumers crash for good at an error that it
 * takes for a refused login, and try again after a failed connection; so every failure of a login is shown to kafkajs
 * as a failed connection.
 */
import type { Mechanism } from "kafkajs";
import { type KafkaLogin, mechanismName, refusedLogin, runLogin } from "../login/login.ts";
import type { Exchange } from "../login/scram.ts";
import { isLoginRefused, messageOf } from "./kafka-errors.ts";

/** For the option `sasl` of a kafkajs client. */
export function kafkajsLogin(login: KafkaLogin): Mechanism {
  return {
    mechanism: mechanismName(login),
    authenticationProvider: ({ host, port, saslAuthenticate }) => ({
      authenticate: async () => {
        const exchange: Exchange = async (message) => {
          const answer = await saslAuthenticate({
            request: { encode: () => withLength(message) },
            response: { decode: withoutLength, parse: (bytes) => bytes },
          });
          return answer ?? Buffer.alloc(0);
        };
        try {
          await runLogin(login, exchange);
        } catch (error) {
          const cause = isLoginRefused(error) ? refusedLogin(login, messageOf(error)) : error;
          throw new LoginFailure(`${host}:${port}`, cause);
        }
      },
    }),
  };
}

/** Has the name by which kafkajs knows a failed connection. */
class LoginFailure extends Error {
  override readonly name = "KafkaJSConnectionError";
  readonly retriable = true;
  readonly broker: string;

  constructor(broker: string, cause: unknown) {
    super(messageOf(cause), { cause });
    this.broker = broker;
  }
}

/**
 * The bytes that kafkajs puts into a SaslAuthenticate request unchanged: a four-byte length, then the message, as the
 * request's only field wants them.
 */
function withLength(message: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(message.length);
  return Buffer.concat([length, message]);
}

/** The message of a SaslAuthenticate answer without its four-byte length. A length of -1 means an empty message. */
function withoutLength(bytes: Buffer): Buffer {
  return bytes.subarray(4);
}
