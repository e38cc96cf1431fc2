/**
 * Our logins as kafkajs takes them. Whatever ends one is a connection's failure to kafkajs: it tries such again, where
 * a refused login makes a consumer of it crash for good.
 */
import type { Mechanism } from "kafkajs";
import { type KafkaLogin, mechanismName, refusedLogin, runLogin } from "../login/login.ts";
import type { Exchange } from "../login/scram.ts";
import { isLoginRefused, messageOf } from "./kafka-errors.ts";

/** For kafkajs's `sasl`. */
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

/** Told by its name, by which kafkajs takes it for a connection's. */
class LoginFailure extends Error {
  override readonly name = "KafkaJSConnectionError";
  readonly retriable = true;
  readonly broker: string;

  constructor(broker: string, cause: unknown) {
    super(messageOf(cause), { cause });
    this.broker = broker;
  }
}

/** As the protocol before SaslAuthenticate had it; kafkajs passes it on as it is. */
function withLength(message: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(message.length);
  return Buffer.concat([length, message]);
}

/** A length of -1 is none. */
function withoutLength(bytes: Buffer): Buffer {
  return bytes.subarray(4);
}
