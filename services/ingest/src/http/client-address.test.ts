import { describe, expect, it } from "vitest";
import { createClientAddresses } from "./client-address.ts";

describe("without trusted proxies", () => {
  const { addressOf } = createClientAddresses([]);

  it.each([
    ["203.0.113.9", "203.0.113.9"],
    ["::ffff:203.0.113.9", "203.0.113.9"],
    ["2001:db8::1", "2001:db8::1"],
    [undefined, null],
  ])("the socket's address %s is the caller's", (socket, expected) => {
    expect(addressOf(socket, "198.51.100.1")).toBe(expected);
  });
});

describe("with trusted proxies", () => {
  const { addressOf } = createClientAddresses(["10.0.0.0/8", "192.0.2.1", "fd00::/8"]);

  it.each([
    ["the proxy names the caller", "10.0.0.1", "203.0.113.9", "203.0.113.9"],
    ["proxies behind one another are passed", "10.0.0.1", "203.0.113.9, 192.0.2.1, 10.9.9.9", "203.0.113.9"],
    ["what the caller itself claimed is not believed", "10.0.0.1", "1.1.1.1, 203.0.113.9", "203.0.113.9"],
    ["a caller that is no proxy is not believed", "203.0.113.9", "1.1.1.1", "203.0.113.9"],
    ["no header", "10.0.0.1", undefined, "10.0.0.1"],
    ["every hop is trusted", "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
    ["a hop that is no address ends the reading", "10.0.0.1", "203.0.113.9, unknown, 10.0.0.2", "10.0.0.2"],
    ["an empty header", "10.0.0.1", "", "10.0.0.1"],
    ["IPv6", "fd00::1", "2001:db8::1", "2001:db8::1"],
  ])("%s", (_name, socket, forwardedFor, expected) => {
    expect(addressOf(socket, forwardedFor)).toBe(expected);
  });
});
