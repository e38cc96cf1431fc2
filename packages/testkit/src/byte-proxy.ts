/**
 * A TCP proxy that passes bytes as they are, and imitates faults of networks, on command.
 *
 * Owns: one listening socket on a free port of 127.0.0.1 and two sockets a connection.
 * BY1  While it is held, connections are accepted and stay open, and nothing passes; held bytes pass at `release`.
 * BY2  A connection that is cut is cut on both sides.
 */
import { connect, createServer, type Server, type Socket } from "node:net";

export class ByteProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #upstream: URL;
  #isHeld = false;

  constructor(upstream: string) {
    this.#upstream = new URL(upstream);
    this.#server = createServer((client) => this.#accept(client));
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, "127.0.0.1", resolve);
    });
  }

  get url(): string {
    const address = this.#server.address();
    if (typeof address !== "object" || address === null) throw new Error("the proxy does not listen");
    return `http://127.0.0.1:${address.port}`;
  }

  /** Connections that are made from now on go there. */
  lead(upstream: string): void {
    this.#upstream = new URL(upstream);
  }

  /** BY1. */
  hold(): void {
    this.#isHeld = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** Connections that are made from now on are not held; those that are open stay so. */
  letNew(): void {
    this.#isHeld = false;
  }

  release(): void {
    this.#isHeld = false;
    for (const socket of this.#sockets) socket.resume();
  }

  /** BY2. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #accept(client: Socket): void {
    const upstream = connect(Number(this.#upstream.port), this.#upstream.hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.add(from);
      from.on("data", (bytes) => to.write(bytes));
      from.on("error", () => {});
      from.on("close", () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      if (this.#isHeld) from.pause();
    }
  }
}

/** Listens in front of `upstream`, a URL. */
export async function openByteProxy(upstream: string): Promise<ByteProxy> {
  const proxy = new ByteProxy(upstream);
  await proxy.listen();
  return proxy;
}
