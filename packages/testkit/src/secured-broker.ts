/**
 * A broker of a test's own whose clients log in: SASL over TLS on 127.0.0.1, by every mechanism, and beside it a port
 * for clients with a certificate. A process of the local stack, started by its path, so that every package may use it.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../../local-stack/src/secured-broker-main.ts", import.meta.url));

/** Users of `plain`, `scram-sha-256` and `scram-sha-512`. They may do everything, as may a token's. */
export type SecuredBrokerUsers = readonly { readonly name: string; readonly password: string }[];

export interface SecuredBroker {
  /** `host:port` of SASL over TLS. */
  readonly broker: string;
  /** `host:port` of TLS without a login, for clients with the certificate in `operatorFile`. */
  readonly operatorBroker: string;
  /** PEM file of the authority that both ports' certificates come from. */
  readonly authorityFile: string;
  /** PEM file of a private key and its certificate. */
  readonly operatorFile: string;
  /** SIGSTOP: its sockets stay open and nobody answers. */
  readonly hang: () => void;
  /** SIGCONT. */
  readonly resume: () => void;
  readonly stop: () => Promise<void>;
}

interface Reported {
  readonly broker: string;
  readonly operatorBroker: string;
  readonly authorityFile: string;
  readonly operatorFile: string;
  readonly pid: number;
}

/** Starts it, which takes some seconds; the caller stops it. Throws when it ends before it is up. */
export async function startSecuredBroker(users: SecuredBrokerUsers): Promise<SecuredBroker> {
  const child = spawn(process.execPath, [main], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  child.stdin.write(`${JSON.stringify(users)}\n`);
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    exited.then(([code]): never => {
      throw new Error(`the secured broker ended with code ${code} before it was up`);
    }),
  ]);
  const { pid, ...reported } = JSON.parse(String(line)) as Reported;
  return {
    ...reported,
    hang: () => process.kill(pid, "SIGSTOP"),
    resume: () => process.kill(pid, "SIGCONT"),
    stop: async () => {
      child.stdin.end();
      await exited;
    },
  };
}

export interface TokenTimes {
  /** Default now. */
  readonly issuedAt?: Date;
  /** Default in an hour. */
  readonly expiresAt?: Date;
}

/** A token of `oauthbearer` that the broker takes until it expires: a JSON web token without a signature. */
export function oauthToken(user: string, { issuedAt = new Date(), expiresAt }: TokenTimes = {}): string {
  const expires = expiresAt ?? new Date(issuedAt.getTime() + 3_600_000);
  const claims = { sub: user, iat: toSeconds(issuedAt), exp: toSeconds(expires) };
  return `${toBase64Url({ alg: "none" })}.${toBase64Url(claims)}.`;
}

function toSeconds(date: Date): number {
  return date.getTime() / 1000;
}

function toBase64Url(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}
