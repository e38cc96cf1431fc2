/** The guard at the moment of connecting. The opener of sockets is replaced, so that no packet leaves this machine. */
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import type { OpenSocket, SocketTarget } from "../src/connector.ts";
import type { Resolve, ResolvedAddress } from "../src/resolve.ts";
import { attemptTo, useReceiver, useSender } from "./harness.ts";

const REFUSED = { outcome: "permanent", status: null, error: "address_refused" };

/** Keeps the targets of connections, and connects to the receiver instead. */
function recordingOpener(port: number): { readonly targets: SocketTarget[]; readonly openSocket: OpenSocket } {
  const targets: SocketTarget[] = [];
  return {
    targets,
    openSocket: (target) => {
      targets.push(target);
      return connect({ host: "127.0.0.1", port });
    },
  };
}

function ipv4(...addresses: readonly string[]): readonly ResolvedAddress[] {
  return addresses.map((address) => ({ address, family: 4 }));
}

describe("an IP literal in the URL", () => {
  it.each([
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://0/",
    "http://0.0.0.0/",
    "http://10.0.0.1/",
    "http://100.64.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://172.16.0.1/",
    "http://192.168.0.1/",
    "http://１２７.0.0.1/",
    "http://127。0。0。1/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b:1::10.0.0.1]/",
    "http://[2002:7f00:1::]/",
    "http://[fd00::1]/",
    "http://[fe80::1]/",
    "https://127.0.0.1/",
    "https://[::1]:8443/",
  ])("is refused, and no socket is opened: %s", async (url) => {
    const { targets, openSocket } = recordingOpener(1);
    const sender = useSender({ allowNetworks: [], openSocket });
    const { urls, settlement } = await attemptTo(sender, [url]).settled;
    expect(urls).toMatchObject([REFUSED]);
    expect(settlement.dead).toEqual([{ urls: null, reason: "address_refused" }]);
    expect(targets).toEqual([]);
  });
});

describe("a public IP literal in the URL", () => {
  it.each([
    ["http://93.184.215.14:8080/", { address: "93.184.215.14", family: 4 }],
    ["http://[2606:4700:4700::1111]:8080/", { address: "2606:4700:4700::1111", family: 6 }],
  ])("is connected to as it stands, without asking a resolver: %s", async (url, address) => {
    const receiver = await useReceiver();
    const { targets, openSocket } = recordingOpener(receiver.port);
    const resolve: Resolve = () => Promise.reject(new Error("nobody should ask"));
    const { settlement } = await attemptTo(useSender({ allowNetworks: [], openSocket, resolve }), [url]).settled;
    expect(settlement.outcome).toBe("delivered");
    expect(targets).toMatchObject([{ port: 8080, addresses: [address] }]);
  });
});

describe("a name in the URL", () => {
  it.each([
    ["a private address", ipv4("10.1.2.3")],
    ["loopback", ipv4("127.0.0.1")],
    ["an IPv4-mapped private address", [{ address: "::ffff:10.0.0.1", family: 6 as const }]],
    ["private addresses in both families", [...ipv4("192.168.0.1"), { address: "fd00::1", family: 6 as const }]],
  ])("is refused when it resolves to %s", async (_what, addresses) => {
    const { targets, openSocket } = recordingOpener(1);
    const sender = useSender({ allowNetworks: [], openSocket, resolve: async () => addresses });
    const { urls } = await attemptTo(sender, ["http://inside.example/"]).settled;
    expect(urls).toMatchObject([REFUSED]);
    expect(targets).toEqual([]);
  });

  it("is connected to at its public addresses alone when it has both kinds", async () => {
    const receiver = await useReceiver();
    const { targets, openSocket } = recordingOpener(receiver.port);
    const resolve: Resolve = async () => ipv4("10.0.0.1", "93.184.215.14", "127.0.0.1");
    const sender = useSender({ allowNetworks: [], openSocket, resolve });
    expect((await attemptTo(sender, ["http://both.example/"]).settled).settlement.outcome).toBe("delivered");
    expect(targets.map(({ addresses }) => addresses)).toEqual([ipv4("93.184.215.14")]);
  });

  it("is connected to at a few addresses of each family when it has a thousand", async () => {
    const receiver = await useReceiver();
    const { targets, openSocket } = recordingOpener(receiver.port);
    const many = Array.from({ length: 1_000 }, (_, at) => `93.184.${at >> 8}.${at & 255}`);
    const ipv6 = { address: "2606:4700:4700::1111", family: 6 as const };
    const sender = useSender({ allowNetworks: [], openSocket, resolve: async () => [...ipv4(...many), ipv6] });
    expect((await attemptTo(sender, ["http://many.example/"]).settled).settlement.outcome).toBe("delivered");
    expect(targets.map(({ addresses }) => addresses)).toEqual([[...ipv4(...many.slice(0, 8)), ipv6]]);
  });

  it("is connected to at the address that was checked when its answer changes in between (rebinding)", async () => {
    const receiver = await useReceiver();
    const { targets, openSocket } = recordingOpener(receiver.port);
    const answers = [ipv4("93.184.215.14"), ipv4("127.0.0.1")];
    let asked = 0;
    const resolve: Resolve = async () => answers[asked++] ?? [];
    const sender = useSender({ allowNetworks: [], openSocket, resolve });
    const { urls } = await attemptTo(sender, ["http://rebinding.example:8080/"]).finished;
    expect(urls).toMatchObject([{ outcome: "delivered" }]);
    expect(asked).toBe(1);
    expect(targets).toMatchObject([{ hostname: "rebinding.example", port: 8080, addresses: ipv4("93.184.215.14") }]);
  });

  it("is checked again for every connection", async () => {
    const receiver = await useReceiver({ script: { headers: { connection: "close" } } });
    const { targets, openSocket } = recordingOpener(receiver.port);
    const answers = [ipv4("93.184.215.14"), ipv4("127.0.0.1")];
    const resolve: Resolve = async () => answers.shift() ?? [];
    const sender = useSender({ allowNetworks: [], openSocket, resolve });
    const first = await attemptTo(sender, ["http://rebinding.example/"]).finished;
    const second = await attemptTo(sender, ["http://rebinding.example/"]).finished;
    expect([first, second].map(({ urls }) => urls[0]?.error)).toEqual([null, "address_refused"]);
    expect(targets).toHaveLength(1);
    expect(receiver.requests).toHaveLength(1);
  });

  it("that cannot be resolved is retryable", async () => {
    const resolve: Resolve = async () => {
      throw Object.assign(new Error("not found"), { code: "ENOTFOUND" });
    };
    const { urls } = await attemptTo(useSender({ resolve }), ["http://gone.example/"]).settled;
    expect(urls).toMatchObject([{ outcome: "retryable", status: null, error: "dns_failure" }]);
  });

  it("whose resolver does not answer times out like a receiver that does not", async () => {
    const resolve: Resolve = () => new Promise(() => {});
    const sender = useSender({ resolve, limits: { headersTimeoutMs: 200 } });
    const { urls } = await attemptTo(sender, ["http://slow-dns.example/"]).finished;
    expect(urls).toMatchObject([{ outcome: "retryable", error: "timeout" }]);
    expect(sender.openConnections).toBe(0);
  });
});

describe("the operator's allow-list", () => {
  it("opens the networks that it names, and no others", async () => {
    const receiver = await useReceiver();
    const { openSocket } = recordingOpener(receiver.port);
    const sender = useSender({ allowNetworks: ["10.1.0.0/16"], openSocket });
    const { urls } = await attemptTo(sender, ["http://10.1.2.3/", "http://10.2.2.3/"], { settle: "each" }).settled;
    expect(urls).toMatchObject([{ outcome: "delivered" }, REFUSED]);
  });

  it("makes localhost reachable by its name", async () => {
    const receiver = await useReceiver();
    const sender = useSender({ allowNetworks: ["127.0.0.0/8", "::1/128"] });
    const { urls } = await attemptTo(sender, [receiver.url.replace("127.0.0.1", "localhost")]).settled;
    expect(urls).toMatchObject([{ outcome: "delivered" }]);
  });
});

describe("the operator's deny-list", () => {
  it("closes public networks and those that are allowed besides, by name too, and no others", async () => {
    const receiver = await useReceiver();
    const { targets, openSocket } = recordingOpener(receiver.port);
    const sender = useSender({
      allowNetworks: ["10.0.0.0/8"],
      denyNetworks: ["10.1.0.0/16", "93.184.215.0/24"],
      openSocket,
      resolve: async () => ipv4("93.184.215.14"),
    });
    const urls = ["http://10.1.2.3/", "http://denied.example/", "http://10.2.2.3/"];
    expect((await attemptTo(sender, urls, { settle: "each" }).settled).urls).toMatchObject([
      REFUSED,
      REFUSED,
      { outcome: "delivered" },
    ]);
    expect(targets.map(({ hostname }) => hostname)).toEqual(["10.2.2.3"]);
  });
});

describe("the operator's ports", () => {
  it("are the only ones connected to, the usual ones of http and https among them only when named", async () => {
    const receiver = await useReceiver();
    const { targets, openSocket } = recordingOpener(receiver.port);
    const resolve: Resolve = async () => ipv4("93.184.215.14");
    const sender = useSender({ ports: [80, 8080], openSocket, resolve });
    const urls = ["http://a.example/", "http://b.example:8080/", "http://c.example:22/", "https://d.example/"];
    expect((await attemptTo(sender, urls, { settle: "each" }).settled).urls).toMatchObject([
      { outcome: "delivered" },
      { outcome: "delivered" },
      REFUSED,
      REFUSED,
    ]);
    expect(targets.map(({ port }) => port).sort()).toEqual([80, 8080]);
  });
});
