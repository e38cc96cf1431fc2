/** How this package opens a connection to a broker. */
import type { Socket } from "node:net";

export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
}

/** Opens a connection. It calls `onConnect` when the socket can be written to: with TLS, after the handshake. */
export type Dial = (broker: BrokerAddress, onConnect: () => void) => Socket;
