/**
 * The guard against server-side request forgery says which addresses webhooks may reach.
 *
 * It judges addresses and not names, at the moment of connecting: the address to which the socket is about to be opened
 * counts, whatever the URL looked like when it was stored and whatever DNS said the last time.
 *
 * AG1  The guard refuses an address that the operator denies, whatever else allows it.
 * - The guard lets pass an address that the operator allows; of all others it lets only ordinary public ones pass.
 * - The guard judges an address that leads to another address (IPv4-mapped, NAT64, ISATAP) by both.
 */
import { PosthasteError } from "@posthaste/core/errors";
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

/**
 * The only block of IPv6 that is assigned for use on the internet. `ipaddr.js` calls the rest of the space unicast too.
 */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse("2000::"), 3];

/** NAT64's well-known prefix: the last 32 bits are the IPv4 address that is reached. */
const NAT64: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse("64:ff9b::"), 96];

/**
 * Addresses that look public and belong to no host of the internet. This one is Azure's host agent, which every machine
 * in Azure can reach.
 */
const REFUSED: readonly Network[] = [[ipaddr.IPv4.parse("168.63.129.16"), 32]];

export interface AddressRules {
  /** CIDRs that webhooks may reach although they are not public (`POSTHASTE_ALLOW_NETWORKS`). */
  readonly allowNetworks?: readonly string[];
  /** CIDRs that webhooks may not reach, even if they are public or allowed (`POSTHASTE_DENY_NETWORKS`). */
  readonly denyNetworks?: readonly string[];
  /** The only ports that webhooks may reach (`POSTHASTE_WEBHOOK_PORTS`); an empty list allows every port. */
  readonly ports?: readonly number[];
}

export interface AddressGuard {
  /** True when webhooks may reach the address that this text names; false for a text that is no address. */
  readonly allows: (address: string) => boolean;
  readonly allowsPort: (port: number) => boolean;
}

/**
 * Makes a guard that lets pass public unicast addresses and the operator's networks, and no address that the operator
 * denies. Throws PosthasteError `invalid_config` for a network that is not a CIDR.
 */
export function createAddressGuard({ allowNetworks = [], denyNetworks = [], ports = [] }: AddressRules): AddressGuard {
  const allowed = allowNetworks.map(parseNetwork);
  const denied = denyNetworks.map(parseNetwork);
  const open = new Set(ports);
  const isIn = (networks: readonly Network[], address: Address) =>
    networks.some((network) => contains(network, address));
  const mayReach = (address: Address): boolean => {
    if (isIn(denied, address)) return false;
    if (isIn(allowed, address)) return true;
    if (!isPublic(address)) return false;
    const tunnelled = isatapTarget(address);
    return tunnelled === null || mayReach(tunnelled);
  };
  return {
    allows(text) {
      if (!ipaddr.isValid(text)) return false;
      const address = ipaddr.parse(text);
      return !isIn(denied, address) && mayReach(reached(address));
    },
    allowsPort: (port) => open.size === 0 || open.has(port),
  };
}

/**
 * The networks of a setting, CIDRs divided by commas.
 * Throws PosthasteError `invalid_config` for a network that is not a CIDR.
 */
export function parseNetworks(text: string): readonly string[] {
  const networks = text
    .split(",")
    .map((network) => network.trim())
    .filter((network) => network !== "");
  networks.forEach(parseNetwork);
  return networks;
}

/**
 * The ports of a setting, divided by commas.
 * Throws PosthasteError `invalid_config` for an entry that is no port.
 */
export function parsePorts(text: string): readonly number[] {
  const ports = text
    .split(",")
    .map((port) => port.trim())
    .filter((port) => port !== "");
  return ports.map((port) => {
    if (/^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535) return Number(port);
    throw new PosthasteError(
      "invalid_config",
      `"${port}" is not a port: expected ports from 1 to 65535 such as 80,443`,
    );
  });
}

/** The address at which packets end up: for an IPv4-mapped or NAT64 address, the IPv4 address inside it. */
function reached(address: Address): Address {
  if (address instanceof ipaddr.IPv4) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  if (address.match(NAT64)) return ipaddr.fromByteArray(address.toByteArray().slice(12));
  return address;
}

/**
 * The IPv4 address to which an ISATAP router would tunnel: the last 32 bits, behind `5efe` with its two free bits (RFC
 * 5214).
 */
function isatapTarget(address: Address): Address | null {
  if (address instanceof ipaddr.IPv4) return null;
  const [, , , , free = 0, mark] = address.parts;
  if ((free & ~0x0300) !== 0 || mark !== 0x5efe) return null;
  return ipaddr.fromByteArray(address.toByteArray().slice(12));
}

/**
 * True for an ordinary address of the internet. `range()` names every special block; 6to4, Teredo and the local NAT64
 * prefix are refused whole, since they hide an address that cannot be judged from here.
 */
function isPublic(address: Address): boolean {
  if (address.range() !== "unicast" || REFUSED.some((network) => contains(network, address))) return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST);
}

function contains([network, bits]: Network, address: Address): boolean {
  return network.kind() === address.kind() && address.match([network, bits] as [ipaddr.IPv4, number]);
}

function parseNetwork(text: string): Network {
  if (!ipaddr.isValidCIDR(text)) {
    throw new PosthasteError(
      "invalid_config",
      `"${text}" is not a network: expected a CIDR such as 10.0.0.0/8 or fd00::/8`,
    );
  }
  return ipaddr.parseCIDR(text);
}
