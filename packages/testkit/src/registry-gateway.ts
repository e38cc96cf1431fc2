/** A way to the real schema registry that a test can close: while it is closed every question is answered with 503. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { schemaRegistryUrl } from "./broker.ts";

export interface RegistryGateway {
  /** For `SCHEMA_REGISTRY_URL`. */
  readonly url: string;
  refuse(): void;
  /** Lets questions through again. */
  allow(): void;
  close(): Promise<void>;
}

/** Opens it; questions go through but between `refuse` and `allow`. */
export async function openRegistryGateway(): Promise<RegistryGateway> {
  const registry = new URL(schemaRegistryUrl());
  let isOpen = true;
  const server = createServer(async (request, response) => {
    if (!isOpen) {
      response.writeHead(503).end("{}");
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const answer = await fetch(`${registry.origin}${request.url}`, {
      method: request.method ?? "GET",
      headers: { "content-type": "application/vnd.schemaregistry.v1+json" },
      ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
    });
    response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${registry.pathname}`,
    refuse: () => {
      isOpen = false;
    },
    allow: () => {
      isOpen = true;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A value of a schema id that no registry of a test knows. */
export const VALUE_OF_UNKNOWN_SCHEMA = Buffer.concat([Buffer.from([0, 0x7f, 0xff, 0xff, 0xf0]), Buffer.alloc(8)]);
