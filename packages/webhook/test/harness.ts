/** Senders and servers that close themselves after the test. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { Destination } from "@posthaste/core/config/destination";
import { type Receiver, type ReceiverOptions, startReceiver } from "@posthaste/testkit/receiver";
import { Registry } from "prom-client";
import { onTestFinished } from "vitest";
import type { AttemptListener, AttemptReport } from "../src/report.ts";
import {
  type AttemptRequest,
  createWebhookSender,
  type WebhookSender,
  type WebhookSenderOptions,
} from "../src/sender.ts";
import { aDestination } from "./destination.ts";

/** Longer than a busy machine stands still: nothing times out that a test does not want to. */
const PATIENT = { headersTimeoutMs: 60_000, bodyTimeoutMs: 60_000 };

export const BODY = Buffer.from('{"version":1,"type":"track","userId":"user-1"}');

/** A sender that may reach 127.0.0.0/8 and is patient, unless told otherwise. */
export function useSender(
  options: Partial<WebhookSenderOptions> = {},
): WebhookSender & { readonly registry: Registry } {
  const registry = new Registry();
  const limits = { ...PATIENT, ...options.limits };
  const sender = createWebhookSender({ allowNetworks: ["127.0.0.0/8"], registry, ...options, limits });
  onTestFinished(() => sender.close());
  return Object.assign(sender, { registry });
}

export async function useReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const receiver = await startReceiver(options);
  onTestFinished(() => receiver.close());
  return receiver;
}

/** The events of a listener, as promises. */
export interface AttemptHandle {
  readonly settled: Promise<AttemptReport>;
  readonly finished: Promise<AttemptReport>;
}

export function attempt(
  sender: WebhookSender,
  request: AttemptRequest,
  listener: Partial<AttemptListener> = {},
): AttemptHandle {
  const settled = Promise.withResolvers<AttemptReport>();
  const finished = Promise.withResolvers<AttemptReport>();
  sender.attempt(request, {
    onOutcome: () => undefined,
    onEnd: () => undefined,
    onSettled: settled.resolve,
    onFinished: finished.resolve,
    ...listener,
  });
  return { settled: settled.promise, finished: finished.promise };
}

/** One attempt to these URLs with the test's body. */
export function attemptTo(
  sender: WebhookSender,
  urls: readonly string[],
  fields: Partial<Destination> = {},
  listener: Partial<AttemptListener> = {},
): AttemptHandle {
  const destination = aDestination({ urls: urls.map((url) => ({ url, headers: {} })), ...fields });
  return attempt(sender, { destination, messageId: "message-1", body: BODY, attempt: 1 }, listener);
}

export interface RawServer {
  readonly url: string;
  readonly port: number;
  /** Connections that were accepted. */
  readonly connections: number;
  /** Requests that arrived whole, in order. */
  readonly requests: readonly string[];
}

/**
 * A server that speaks bytes, for behaviour that no HTTP server can be made to have. `onRequest` is called when a whole
 * request has arrived on a connection, with the number of that request on that connection, from 1.
 */
export async function useRawServer(onRequest: (socket: Socket, nth: number) => void): Promise<RawServer> {
  const sockets = new Set<Socket>();
  const requests: string[] = [];
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    let text = "";
    let nth = 0;
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
      const end = text.indexOf("\r\n\r\n") + 4 + length;
      if (Number.isNaN(length) || text.length < end) return;
      requests.push(text.slice(0, end));
      text = text.slice(end);
      nth += 1;
      onRequest(socket, nth);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    get connections() {
      return connections;
    },
    requests,
  };
}

/** A port of 127.0.0.1 that nobody listens on. */
export async function useClosedPort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
