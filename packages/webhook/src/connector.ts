/**
 * Opens connections: the connector resolves the name, lets the guard judge every address, and connects to addresses
 * that passed and to nothing else.
 *
 * The connector resolves a name once and keeps to those addresses, so a name that changes its answer between check and
 * connect (DNS rebinding) gains nothing. The name itself still goes into SNI, and the certificate must be for it.
 */
import { X509Certificate } from "node:crypto";
import { isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectTls, createSecureContext, getCACertificates, type SecureContext } from "node:tls";
import { PosthasteError } from "@posthaste/core/errors";
import type { buildConnector } from "undici";
import type { AddressGuard } from "./address-guard.ts";
import type { ConnectionParts } from "./agents.ts";
import { ADDRESS_REFUSED, DNS_FAILED, isSystemFailure, SendError, TIMED_OUT, TLS_FAILED } from "./errors.ts";
import { skipContinue } from "./interim-answers.ts";
import type { Resolve, ResolvedAddress } from "./resolve.ts";
import { Timed, type TimerWheel } from "./timer-wheel.ts";
import { UnbufferedSocket } from "./unbuffered-socket.ts";

/** The target of a connection: addresses that the guard let pass, and nothing else. */
export interface SocketTarget {
  /** The name or IP literal of the URL; the certificate must be for it. */
  readonly hostname: string;
  readonly port: number;
  readonly addresses: readonly ResolvedAddress[];
  /** Null for plain HTTP. */
  readonly secureContext: SecureContext | null;
}

/** Starts to connect. The socket emits `connect` or `secureConnect` when it is connected, and `error` on a failure. */
export type OpenSocket = (target: SocketTarget) => Socket;

export interface ConnectorOptions {
  readonly guard: AddressGuard;
  readonly resolve: Resolve;
  readonly openSocket: OpenSocket;
  /** PEM to trust besides the usual authorities. */
  readonly extraCa: string | undefined;
  readonly wheel: TimerWheel;
  readonly timeoutMs: number;
}

/** Addresses of each family that a connection tries. A name with a thousand would have each attempt knock at all. */
const MOST_ADDRESSES = 8;

/** Opens a connection to an address that the guard lets pass. Every failure is an error that `toRequestError` knows. */
export type OpenConnection = (target: buildConnector.Options) => Promise<Socket>;

export function createOpenConnection(options: ConnectorOptions): OpenConnection {
  const { extraCa } = options;
  const secureContext = createSecureContext(
    extraCa === undefined ? {} : { ca: [...getCACertificates("default"), ...parseAuthorities(extraCa)] },
  );

  const allowedOf = (addresses: readonly ResolvedAddress[], of: 4 | 6) =>
    addresses.filter(({ address, family }) => family === of && options.guard.allows(address)).slice(0, MOST_ADDRESSES);

  return async ({ hostname, protocol, port }) => {
    const isSecure = protocol === "https:";
    const portNumber = port === "" ? (isSecure ? 443 : 80) : Number(port);
    if (!options.guard.allowsPort(portNumber)) {
      throw new SendError(ADDRESS_REFUSED, `${hostname} is at port ${portNumber}, which webhooks may not reach`);
    }
    const resolved = await resolveHost(options.resolve, hostname);
    const addresses = [...allowedOf(resolved, 4), ...allowedOf(resolved, 6)];
    if (addresses.length === 0) {
      throw new SendError(ADDRESS_REFUSED, `${hostname} is in a network that webhooks may not reach`);
    }
    const socket = options.openSocket({
      hostname,
      port: portNumber,
      addresses,
      secureContext: isSecure ? secureContext : null,
    });
    return connected(socket, isSecure, options);
  };
}

/** Makes connectors for undici. */
export function createConnectors(open: OpenConnection): ConnectionParts["createConnector"] {
  return (budget) => (target, callback) => {
    open(target).then(
      (socket) => {
        budget.guard(socket);
        callback(null, skipContinue(socket));
      },
      (reason: unknown) => callback(reason instanceof Error ? reason : new SendError("", String(reason)), null),
    );
  };
}

/**
 * Checks the certificates of a PEM file. OpenSSL ignores a certificate that it cannot read, and every receiver would
 * then fail at run time.
 */
function parseAuthorities(pem: string): readonly string[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----/gs) ?? [];
  if (blocks.length === 0) throw new PosthasteError("invalid_config", "the extra CA holds no certificate in PEM");
  for (const [index, block] of blocks.entries()) {
    try {
      new X509Certificate(block);
    } catch (cause) {
      throw new PosthasteError("invalid_config", `certificate ${index + 1} of the extra CA cannot be read`, { cause });
    }
  }
  return blocks;
}

async function resolveHost(resolve: Resolve, hostname: string): Promise<readonly ResolvedAddress[]> {
  const family = isIP(hostname);
  if (family !== 0) return [{ address: hostname, family: family === 6 ? 6 : 4 }];
  try {
    return await resolve(hostname);
  } catch (reason) {
    throw new SendError(DNS_FAILED, `${hostname} could not be resolved`, reason);
  }
}

/** A connection that is being made. It ends with the socket, with an error, or at the deadline. */
class Connecting extends Timed {
  readonly #fail: () => void;

  constructor(fail: () => void) {
    super();
    this.#fail = fail;
  }

  onTimeout(): void {
    this.#fail();
  }
}

function connected(socket: Socket, isSecure: boolean, { wheel, timeoutMs }: ConnectorOptions): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const deadline = new Connecting(() => socket.destroy(new SendError(TIMED_OUT, "no connection in time")));
    wheel.add(deadline, timeoutMs);
    // This listener stays after the handshake, when undici handles errors and this listener changes nothing.
    socket.on("error", (reason) => {
      wheel.remove(deadline);
      // When a handshake fails although the connection did not, it failed over certificates or over the protocol.
      const isTls = isSecure && !isSystemFailure(reason);
      reject(isTls ? new SendError(TLS_FAILED, "the TLS handshake failed", reason) : reason);
    });
    socket.once(isSecure ? "secureConnect" : "connect", () => {
      wheel.remove(deadline);
      resolve(socket);
    });
  });
}

/** How long a connect to an address may take before the socket tries the next address too, in ms. */
const NEXT_ADDRESS_AFTER_MS = 250;

/** Opens a TCP or TLS socket to one of the target's addresses. It always verifies certificates. */
export const openSocket: OpenSocket = ({ hostname, port, addresses, secureContext }) => {
  const tcp = {
    host: hostname,
    port,
    lookup: pinned(addresses),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
    autoSelectFamily: addresses.length > 1,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
  };
  if (secureContext === null) return new UnbufferedSocket(tcp).connect(tcp);
  return connectTls({
    ...tcp,
    secureContext,
    // An IP literal has no SNI; its certificate is checked against the address.
    servername: isIP(hostname) === 0 ? hostname : "",
    ALPNProtocols: ["http/1.1"],
    // This option keeps NODE_TLS_REJECT_UNAUTHORIZED in the environment from turning the verification off.
    rejectUnauthorized: true,
  });
};

function pinned(addresses: readonly ResolvedAddress[]): LookupFunction {
  const [first] = addresses;
  return (hostname, options, callback) => {
    if (options.all) callback(null, [...addresses]);
    else if (first === undefined) callback(new SendError(DNS_FAILED, `no address for ${hostname}`), "");
    else callback(null, first.address, first.family);
  };
}
