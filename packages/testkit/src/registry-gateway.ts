/**
 * A way to the real schema registry that a test can close, and that asks for TLS and a login where a test wants so.
 *
 * Owns: an HTTP server, and whether it lets questions through.
 */
import { createServer as createPlainServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { schemaRegistryUrl } from "./broker.ts";

export interface RegistryGateway {
  /** For `SCHEMA_REGISTRY_URL`. */
  readonly url: string;
  /** From now on every question is answered with 503, until `allow`. */
  refuse(): void;
  /** From now on the registry seems to have no schema of this id, until `show`. */
  hide(schemaId: number): void;
  /** How often it was asked for each schema that it hides, by id. */
  readonly hiddenAsks: ReadonlyMap<number, number>;
  show(schemaId: number): void;
  /** Lets questions through again. */
  allow(): void;
  close(): Promise<void>;
}

export interface RegistryGatewayOptions {
  /** The server's key and certificate, as PEM texts; plain HTTP when absent. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** A request without this login gets 401. */
  readonly login?: { readonly username: string; readonly password: string };
}

/** Opens the gateway; questions go through but between `refuse` and `allow`. */
export async function openRegistryGateway({ tls, login }: RegistryGatewayOptions = {}): Promise<RegistryGateway> {
  const registry = new URL(schemaRegistryUrl());
  const wanted = login && `Basic ${Buffer.from(`${login.username}:${login.password}`).toString("base64")}`;
  let isOpen = true;
  const idsByPath = new Map<string, number>();
  const hiddenAsks = new Map<number, number>();
  const pathOf = (schemaId: number) => `${registry.pathname}/schemas/ids/${schemaId}`;
  const answer: RequestListener = async (request, response) => {
    const hiddenId = idsByPath.get(new URL(request.url ?? "/", registry).pathname);
    if (!isOpen) {
      response.writeHead(503).end("{}");
    } else if (wanted !== undefined && request.headers.authorization !== wanted) {
      response.writeHead(401, { "content-type": "application/json" }).end('{"message":"who are you?"}');
    } else if (hiddenId !== undefined) {
      hiddenAsks.set(hiddenId, (hiddenAsks.get(hiddenId) ?? 0) + 1);
      response.writeHead(404, { "content-type": "application/json" });
      response.end('{"error_code":40403,"message":"Schema not found"}');
    } else {
      const { status, body } = await forward(request, registry.origin);
      response.writeHead(status, { "content-type": "application/json" }).end(body);
    }
  };
  const server: Server = tls === undefined ? createPlainServer(answer) : createTlsServer(tls, answer);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}${registry.pathname}`,
    refuse: () => {
      isOpen = false;
    },
    allow: () => {
      isOpen = true;
    },
    hiddenAsks,
    hide: (schemaId) => void idsByPath.set(pathOf(schemaId), schemaId),
    show: (schemaId) => void idsByPath.delete(pathOf(schemaId)),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function forward(request: IncomingMessage, origin: string): Promise<{ status: number; body: string }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const answer = await fetch(`${origin}${request.url}`, {
    method: request.method ?? "GET",
    headers: { "content-type": "application/vnd.schemaregistry.v1+json" },
    ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
  });
  return { status: answer.status, body: await answer.text() };
}

/** A value of a schema id that no registry of a test knows. */
export const VALUE_OF_UNKNOWN_SCHEMA = Buffer.concat([Buffer.from([0, 0x7f, 0xff, 0xff, 0xf0]), Buffer.alloc(8)]);
