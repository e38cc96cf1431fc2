/**
 * A collector for tests: it takes OTLP over HTTP on a free port of 127.0.0.1, and keeps the spans.
 *
 * Owns: one server and its sockets.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { type ReceivedSpan, readSpans } from "./otlp-spans.ts";

export interface OtlpReceiver {
  /** The value of `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string;
  /** In the order of their arrival. */
  readonly spans: readonly ReceivedSpan[];
  /** The requests that came, as text, in which no secret may be. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

export interface OtlpReceiverOptions {
  /** `hang`: requests are read and never answered; `refuse`: they are answered 400. */
  readonly fault?: "hang" | "refuse";
}

export async function startOtlpReceiver({ fault }: OtlpReceiverOptions = {}): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    requests.push(body.toString("latin1"));
    if (fault === "hang") return;
    if (fault === undefined && request.url === "/v1/traces") spans.push(...readSpans(body));
    response.writeHead(fault === "refuse" ? 400 : 200, { "content-type": "application/x-protobuf" }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
