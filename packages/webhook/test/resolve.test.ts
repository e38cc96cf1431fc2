/** Names are asked of a DNS server that lives in the test. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { createResolve } from "../src/resolve.ts";

const TYPE_A = 1;
const NAME_ERROR = 3;

/** A DNS server that knows A records; names that it does not know do not exist, `silent.example` gets no answer. */
async function useDnsServer(records: Readonly<Record<string, readonly string[]>>) {
  const socket = createSocket("udp4");
  const questions: string[] = [];
  socket.on("message", (query, client) => {
    const { name, type, end } = questionOf(query);
    questions.push(`${type === TYPE_A ? "A" : "AAAA"} ${name}`);
    if (name === "silent.example") return;
    const addresses = type === TYPE_A ? (records[name] ?? []) : [];
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | (name in records ? 0 : NAME_ERROR), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(addresses.length, 6);
    const answers = addresses.map((address) =>
      Buffer.from([0xc0, 12, 0, TYPE_A, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split(".").map(Number)]),
    );
    socket.send(Buffer.concat([header, query.subarray(12, end), ...answers]), client.port, client.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  onTestFinished(() => {
    socket.close();
  });
  return { servers: [`127.0.0.1:${socket.address().port}`], questions };
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join("."), type: query.readUInt16BE(at + 1), end: at + 5 };
}

describe("createResolve", () => {
  it("answers every address that DNS has for the name", async () => {
    const dns = await useDnsServer({ "two.example": ["192.0.2.1", "192.0.2.2"] });
    expect(await createResolve(dns)("two.example")).toEqual([
      { address: "192.0.2.1", family: 4 },
      { address: "192.0.2.2", family: 4 },
    ]);
  });

  it("asks once for a name that many want at the same moment, and again for the next", async () => {
    const dns = await useDnsServer({ "one.example": ["192.0.2.1"] });
    const resolve = createResolve(dns);
    await Promise.all([resolve("one.example"), resolve("one.example"), resolve("one.example")]);
    expect(dns.questions.toSorted()).toEqual(["A one.example", "AAAA one.example"]);
    await resolve("one.example");
    expect(dns.questions).toHaveLength(4);
  });

  it("asks the system for a name without a dot", async () => {
    const dns = await useDnsServer({});
    const addresses = await createResolve(dns)("localhost");
    expect(addresses.map(({ address }) => address)).toContain("127.0.0.1");
    expect(dns.questions).toEqual([]);
  });

  it("fails with the resolver's code when the servers do not answer, without asking the system", async () => {
    const dns = await useDnsServer({});
    const resolve = createResolve({ ...dns, queryTimeoutMs: 100 });
    await expect(resolve("silent.example")).rejects.toMatchObject({ code: "ETIMEOUT" });
  });
});
