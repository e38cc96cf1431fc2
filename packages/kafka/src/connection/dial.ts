/** How a broker is reached. */
import type { Socket } from "node:net";

export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
}

/** Opens a connection; `onConnect` is called when it can be written to (after the handshake, with TLS). */
export type Dial = (broker: BrokerAddress, onConnect: () => void) => Socket;
