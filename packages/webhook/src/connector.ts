import type { Socket } from "node:net";
import type { ResolvedAddress } from "./resolve.ts";

/** Where to connect to: addresses that the guard let pass, and nothing else. */
export interface SocketTarget {
  /** The name or IP literal of the URL; what the certificate is checked against. */
  readonly hostname: string;
  readonly port: number;
  readonly addresses: readonly ResolvedAddress[];
  /** Null for plain HTTP; SNI is sent unless the host is an IP literal. */
  readonly secure: boolean;
}

/** Starts to connect; `connect` or `secureConnect` says that it worked, `error` that it did not. */
export type OpenSocket = (target: SocketTarget) => Socket;
