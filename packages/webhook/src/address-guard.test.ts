import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createAddressGuard, parseNetworks, parsePorts } from "./address-guard.ts";

const closed = createAddressGuard({});

describe("address guard", () => {
  it.each([
    ["0.0.0.0", "this host"],
    ["0.1.2.3", "this network"],
    ["10.0.0.1", "private"],
    ["10.255.255.255", "private"],
    ["100.64.0.1", "CGNAT"],
    ["100.127.255.255", "CGNAT"],
    ["127.0.0.1", "loopback"],
    ["127.255.255.254", "loopback"],
    ["169.254.169.254", "link-local, the clouds' metadata"],
    ["172.16.0.1", "private"],
    ["172.31.255.255", "private"],
    ["192.0.0.1", "protocol assignments"],
    ["192.0.2.1", "documentation"],
    ["192.88.99.1", "6to4 relays"],
    ["192.168.1.1", "private"],
    ["198.18.0.1", "benchmarks"],
    ["198.19.255.255", "benchmarks"],
    ["198.51.100.1", "documentation"],
    ["203.0.113.1", "documentation"],
    ["224.0.0.1", "multicast"],
    ["239.255.255.255", "multicast"],
    ["240.0.0.1", "reserved"],
    ["255.255.255.255", "broadcast"],
    ["::", "unspecified"],
    ["::1", "loopback"],
    ["::7f00:1", "IPv4-compatible loopback"],
    ["::ffff:127.0.0.1", "IPv4-mapped loopback"],
    ["::ffff:7f00:1", "IPv4-mapped loopback in hex"],
    ["::ffff:10.0.0.1", "IPv4-mapped private"],
    ["::ffff:169.254.169.254", "IPv4-mapped metadata"],
    ["::ffff:0:127.0.0.1", "IPv4-translated loopback"],
    ["64:ff9b::127.0.0.1", "NAT64 loopback"],
    ["64:ff9b::a00:1", "NAT64 private"],
    ["64:ff9b:1::a00:1", "local NAT64"],
    ["2002:7f00:1::", "6to4 loopback"],
    ["2002:a00:1::1", "6to4 private"],
    ["2002:808:808::1", "6to4 of a public address"],
    ["2001:0:7f00:1::", "Teredo"],
    ["2001:db8::1", "documentation"],
    ["2001:2::1", "benchmarks"],
    ["2001:10::1", "ORCHID"],
    ["100::1", "discard"],
    ["3fff::1", "documentation"],
    ["4000::1", "not handed out"],
    ["5f00::1", "segment routing"],
    ["fc00::1", "unique local"],
    ["fd12:3456:789a::1", "unique local"],
    ["fe80::1", "link-local"],
    ["fe80::1%eth0", "link-local with a zone"],
    ["168.63.129.16", "Azure's host agent"],
    ["::ffff:168.63.129.16", "IPv4-mapped host agent"],
    ["64:ff9b::168.63.129.16", "NAT64 host agent"],
    ["fe80::5efe:8.8.8.8", "link-local ISATAP of a public address"],
    ["fe80::200:5efe:10.0.0.1", "link-local ISATAP"],
    ["2606:4700::5efe:127.0.0.1", "ISATAP loopback"],
    ["2606:4700::5efe:10.0.0.1", "ISATAP private"],
    ["2606:4700::200:5efe:10.0.0.1", "ISATAP private, said to be unique"],
    ["2606:4700::100:5efe:10.0.0.1", "ISATAP private, said to be a group"],
    ["2606:4700::300:5efe:169.254.169.254", "ISATAP metadata"],
    ["2606:4700::5efe:168.63.129.16", "ISATAP host agent"],
    ["fec0::1", "site-local"],
    ["ff02::1", "multicast"],
  ])("refuses %s (%s)", (address) => {
    expect(closed.allows(address)).toBe(false);
  });

  it.each([
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "168.63.129.15",
    "168.63.129.17",
    "2606:4700::5efe:8.8.8.8",
    "2606:4700::200:5efe:8.8.8.8",
    "2606:4700::400:5efe:10.0.0.1",
    "2606:4700::5eff:10.0.0.1",
    "2606:4700:4700::1111",
    "2a00:1450:4001::1",
  ])("lets %s pass", (address) => {
    expect(closed.allows(address)).toBe(true);
  });

  it.each(["", "localhost", "example.com", "1.2.3.4.5", "::g"])("refuses %j, which is no address", (text) => {
    expect(closed.allows(text)).toBe(false);
  });

  it("judges the IPv4 address inside an IPv4-mapped or NAT64 address as that address itself", () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(closed.allows(`::ffff:${address}`)).toBe(closed.allows(address));
        expect(closed.allows(`64:ff9b::${address}`)).toBe(closed.allows(address));
      }),
    );
  });

  it("lets the operator's networks pass, in every notation of their addresses, and nothing beside them", () => {
    const guard = createAddressGuard({ allowNetworks: ["127.0.0.0/8", "10.1.0.0/16", "fd00:1::/32"] });
    for (const address of [
      "127.0.0.1",
      "::ffff:127.0.0.1",
      "10.1.2.3",
      "fd00:1::5",
      "8.8.8.8",
      "2606:4700::5efe:10.1.2.3",
    ]) {
      expect(guard.allows(address)).toBe(true);
    }
    for (const address of ["10.2.0.1", "192.168.0.1", "::1", "fd00:2::5"]) {
      expect(guard.allows(address)).toBe(false);
    }
  });

  it("AG1: refuses what the operator denies, in every notation, whether it is public or allowed besides", () => {
    const guard = createAddressGuard({
      allowNetworks: ["10.0.0.0/8"],
      denyNetworks: ["10.1.0.0/16", "8.8.8.0/24", "64:ff9b::/96", "2a00:1450::/32"],
    });
    for (const address of ["10.2.0.1", "1.1.1.1", "2606:4700::1", "::ffff:8.8.4.4"]) {
      expect(guard.allows(address)).toBe(true);
    }
    for (const address of [
      ...["10.1.0.1", "::ffff:10.1.0.1", "8.8.8.8", "::ffff:8.8.8.8", "2606:4700::5efe:8.8.8.8"],
      ...["64:ff9b::1.1.1.1", "2a00:1450:4001::1"],
    ]) {
      expect(guard.allows(address)).toBe(false);
    }
  });

  it("lets the host agent's address pass when the operator names it", () => {
    expect(createAddressGuard({ allowNetworks: ["168.63.129.16/32"] }).allows("168.63.129.16")).toBe(true);
  });

  it("lets every port pass unless the operator names those that may be reached", () => {
    expect([80, 22, 65_535].map((port) => closed.allowsPort(port))).toEqual([true, true, true]);
    const guard = createAddressGuard({ ports: [80, 443] });
    expect([80, 443, 22, 8443].map((port) => guard.allowsPort(port))).toEqual([true, true, false, false]);
  });

  it("reads the ports of a setting, and refuses what is none", () => {
    expect(parsePorts("80, 443,")).toEqual([80, 443]);
    for (const text of ["0", "65536", "http", "80;443", "-1", "8e1", "80-90"]) {
      expect(() => parsePorts(`443,${text}`)).toThrow(`"${text}" is not a port: expected ports from 1 to 65535`);
    }
  });

  it.each(["10.0.0.0", "10.0.0.0/33", "localhost/8", ""])("does not start with %j for a network", (network) => {
    expect(() => createAddressGuard({ allowNetworks: [network] })).toThrow(/is not a network: expected a CIDR/);
    expect(() => createAddressGuard({ denyNetworks: [network] })).toThrow(/is not a network: expected a CIDR/);
  });

  it("reads the networks of a setting, and refuses the one that is none", () => {
    expect(parseNetworks("127.0.0.0/8, ::1/128,")).toEqual(["127.0.0.0/8", "::1/128"]);
    expect(() => parseNetworks("127.0.0.0/8,localhost")).toThrow('"localhost" is not a network: expected a CIDR');
  });
});
