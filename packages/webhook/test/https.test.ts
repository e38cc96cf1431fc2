/** Certificates are verified before a byte of the request is sent, and nothing turns that off. */
import { once } from "node:events";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { CertificateAuthority, type Issued, selfSigned } from "@posthaste/testkit/certificates";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { UrlResult } from "../src/report.ts";
import type { Resolve } from "../src/resolve.ts";
import type { WebhookSender } from "../src/sender.ts";
import { attemptTo, useReceiver, useSender } from "./harness.ts";

const DAY_MS = 86_400_000;
const NAME = "receiver.example";
const authority = new CertificateAuthority();
const toLoopback: Resolve = async () => [{ address: "127.0.0.1", family: 4 }];

/** A TLS server that counts the bytes that it decrypts. */
async function useTlsServer({ cert, key }: Issued, options: TlsOptions = {}, body = "") {
  const seen = { handshakes: 0, bytes: 0, serverNames: [] as unknown[] };
  const server = createTlsServer({ cert, key, ...options }, (socket) => {
    seen.handshakes += 1;
    seen.serverNames.push(socket.servername);
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk) => {
      seen.bytes += chunk.length;
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    });
  });
  server.on("tlsClientError", () => {});
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `https://${NAME}:${port}/hook`, port, seen };
}

async function resultOf(sender: WebhookSender, url: string): Promise<UrlResult> {
  const [result] = (await attemptTo(sender, [url]).finished).urls;
  if (result === undefined) throw new Error("the attempt has no result");
  return result;
}

const REFUSED = { outcome: "retryable", status: null, error: "tls_failure" };

describe("HTTPS", () => {
  it("delivers to a receiver whose certificate the operator's authority issued", async () => {
    const server = await useTlsServer(authority.issue({ commonName: NAME, names: [NAME] }));
    const sender = useSender({ extraCa: authority.cert, resolve: toLoopback });
    expect(await resultOf(sender, server.url)).toMatchObject({ outcome: "delivered", status: 200 });
    expect(server.seen.serverNames).toEqual([NAME]);
  });

  it("reaches that receiver without a byte of a request, and tells why it does not reach another", async () => {
    const server = await useTlsServer(authority.issue({ commonName: NAME, names: [NAME] }));
    const sender = useSender({ extraCa: authority.cert, resolve: toLoopback });
    expect(await sender.reach(server.url)).toBeNull();
    await expect.poll(() => server.seen).toMatchObject({ handshakes: 1, bytes: 0 });
    expect(await useSender({ resolve: toLoopback }).reach(server.url)).toBe("tls_failure");
    expect(await sender.reach(server.url.replace(NAME, "[::1]"))).toBe("address_refused");
    expect(sender.openConnections).toBe(0);
  });

  it("reads a long answer to its end, and leaves the connection to the next request", async () => {
    const issued = authority.issue({ commonName: NAME, names: [NAME] });
    const server = await useTlsServer(issued, {}, "x".repeat(60_000));
    const sender = useSender({ extraCa: authority.cert, resolve: toLoopback });
    for (let request = 0; request < 3; request += 1) {
      expect(await resultOf(sender, server.url)).toMatchObject({ outcome: "delivered", status: 200, error: null });
    }
    expect(server.seen.handshakes).toBe(1);
  });

  it("delivers to an IP literal whose certificate is for that address", async () => {
    const issued = authority.issue({ commonName: NAME, names: ["127.0.0.1"] });
    const receiver = await useReceiver({ tls: issued });
    const sender = useSender({ extraCa: authority.cert });
    expect(await resultOf(sender, `${receiver.url}/hook`)).toMatchObject({ outcome: "delivered" });
    expect(receiver.requests).toHaveLength(1);
  });

  const bad: readonly [string, () => Issued][] = [
    ["a self-signed certificate", () => selfSigned({ commonName: NAME, names: [NAME] })],
    [
      "a certificate of an authority that nobody knows",
      () => new CertificateAuthority().issue({ commonName: NAME, names: [NAME] }),
    ],
    [
      "an expired certificate",
      () => authority.issue({ commonName: NAME, names: [NAME], notBefore: daysFromNow(-2), notAfter: daysFromNow(-1) }),
    ],
    [
      "a certificate that is not valid yet",
      () => authority.issue({ commonName: NAME, names: [NAME], notBefore: daysFromNow(1), notAfter: daysFromNow(2) }),
    ],
    [
      "a certificate for another host",
      () => authority.issue({ commonName: "other.example", names: ["other.example"] }),
    ],
    [
      "a certificate with the host as its common name alone",
      () => authority.issue({ commonName: NAME, names: ["b.example"] }),
    ],
  ];

  it.each(bad)("sends nothing to a receiver with %s", async (_what, issue) => {
    const server = await useTlsServer(issue());
    const sender = useSender({ extraCa: authority.cert, resolve: toLoopback });
    expect(await resultOf(sender, server.url)).toMatchObject(REFUSED);
    expect(server.seen.bytes).toBe(0);
  });

  it("does not trust the operator's authority unless it was named", async () => {
    const server = await useTlsServer(authority.issue({ commonName: NAME, names: [NAME] }));
    expect(await resultOf(useSender({ resolve: toLoopback }), server.url)).toMatchObject(REFUSED);
    expect(server.seen.bytes).toBe(0);
  });

  it("is not turned off by NODE_TLS_REJECT_UNAUTHORIZED", async () => {
    const server = await useTlsServer(selfSigned({ commonName: NAME, names: [NAME] }));
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    // Node says once that connections are insecure now; that this one is not is the point.
    vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    expect(await resultOf(useSender({ resolve: toLoopback }), server.url)).toMatchObject(REFUSED);
    expect(server.seen.bytes).toBe(0);
  });

  it("is retryable when the other side speaks no TLS", async () => {
    const receiver = await useReceiver();
    const sender = useSender();
    const result = await resultOf(sender, receiver.url.replace("http:", "https:"));
    expect(result).toMatchObject({ outcome: "retryable", status: null });
    expect(receiver.requests).toHaveLength(0);
  });

  it("times out when the handshake hangs", async () => {
    const server = createTcpServer(() => {});
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => {
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const sender = useSender({ limits: { headersTimeoutMs: 300 } });
    const result = await resultOf(sender, `https://127.0.0.1:${port}/`);
    expect(result).toMatchObject({ outcome: "retryable", error: "timeout" });
  });

  it("refuses to start with an authority that is no certificate", () => {
    expect(() => useSender({ extraCa: "no PEM" })).toThrow(/holds no certificate/);
    const broken = `${authority.cert}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`;
    expect(() => useSender({ extraCa: broken })).toThrow(/certificate 2 of the extra CA cannot be read/);
  });
});

function daysFromNow(days: number): Date {
  return new Date(Date.now() + days * DAY_MS);
}
