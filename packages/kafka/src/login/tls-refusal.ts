/** Advice when TLS refuses a connection: a sentence for each code of Node and OpenSSL that names the setting. Pure. */

type Refusal =
  | "untrusted"
  | "out of date"
  | "another name"
  | "no TLS"
  | "wants a certificate"
  | "distrusts the certificate"
  | "nothing in common";

const BY_CODE: Readonly<Record<string, Refusal>> = {
  SELF_SIGNED_CERT_IN_CHAIN: "untrusted",
  DEPTH_ZERO_SELF_SIGNED_CERT: "untrusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "untrusted",
  UNABLE_TO_GET_ISSUER_CERT: "untrusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "untrusted",
  CERT_SIGNATURE_FAILURE: "untrusted",
  CERT_UNTRUSTED: "untrusted",
  CERT_HAS_EXPIRED: "out of date",
  CERT_NOT_YET_VALID: "out of date",
  ERR_TLS_CERT_ALTNAME_INVALID: "another name",
  ERR_SSL_WRONG_VERSION_NUMBER: "no TLS",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "no TLS",
  EPROTO: "no TLS",
};

/** Alerts that the other side sent. OpenSSL's versions put different words in front of the alert's name. */
const ALERT = /^ERR_SSL_(?:SSLV3|TLSV1|TLSV13|SSL\/TLS)_ALERT_(.+)$/;
const BY_ALERT: Readonly<Record<string, Refusal>> = {
  // Java sends BAD_CERTIFICATE to a client without a certificate, and TLS 1.3 sends CERTIFICATE_REQUIRED.
  BAD_CERTIFICATE: "wants a certificate",
  CERTIFICATE_REQUIRED: "wants a certificate",
  CERTIFICATE_UNKNOWN: "distrusts the certificate",
  UNKNOWN_CA: "distrusts the certificate",
  CERTIFICATE_EXPIRED: "distrusts the certificate",
  HANDSHAKE_FAILURE: "nothing in common",
  PROTOCOL_VERSION: "nothing in common",
};

/** Advice for a process that speaks plain TCP to a TLS listener. */
export const BROKER_REQUIRES_TLS =
  "the broker speaks TLS on this port: set KAFKA_TLS to true, or name the port of a listener without TLS in KAFKA_BROKERS";

const OF_BROKER: Readonly<Record<Refusal, string>> = {
  untrusted:
    "the broker's certificate is signed by no authority that is trusted: name the file with its authority's certificate in KAFKA_TLS_CA_FILE",
  "out of date": "the broker's certificate is out of its time: give the broker a new one, or set this machine's clock",
  "another name":
    "the broker's certificate names another host: name the brokers in KAFKA_BROKERS and in their advertised.listeners as it does",
  "no TLS":
    "the broker speaks no TLS that this process understands on this port: set KAFKA_TLS to false, or name the port of a listener with TLS in KAFKA_BROKERS",
  "wants a certificate":
    "the broker wants a certificate of its client: name it and its key in KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE",
  "distrusts the certificate":
    "the broker does not trust KAFKA_TLS_CERT_FILE: have it signed by an authority in the broker's trust store, or renew it",
  "nothing in common":
    "the broker and this process have no version of TLS or no cipher in common: see the broker's ssl.enabled.protocols",
};

const OF_REGISTRY: Readonly<Record<Refusal, string>> = {
  untrusted:
    "the registry's certificate is signed by no authority that is trusted: name the file with its authority's certificate in SCHEMA_REGISTRY_CA_FILE",
  "out of date":
    "the registry's certificate is out of its time: give the registry a new one, or set this machine's clock",
  "another name": "the registry's certificate names another host: name the registry in SCHEMA_REGISTRY_URL as it does",
  "no TLS":
    "the registry speaks no TLS that this process understands on this port: begin SCHEMA_REGISTRY_URL with http://, or name the port with TLS",
  "wants a certificate":
    "the registry wants a certificate of its client, which there is no setting for: let it take a password",
  "distrusts the certificate": "the registry does not trust this process's certificate: let it take a password",
  "nothing in common":
    "the registry and this process have no version of TLS or no cipher in common: see the registry's settings",
};

/**
 * Advice after this error of a connection to a broker, with the error's code; undefined for errors that are not of TLS.
 */
export function brokerTlsRefusal(error: unknown): string | undefined {
  return tlsRefusal(error, OF_BROKER);
}

/** The advice of `brokerTlsRefusal`, for a connection to the schema registry. */
export function registryTlsRefusal(error: unknown): string | undefined {
  return tlsRefusal(error, OF_REGISTRY);
}

function tlsRefusal(error: unknown, sentences: Readonly<Record<Refusal, string>>): string | undefined {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  if (typeof code !== "string") return undefined;
  const refusal = BY_CODE[code] ?? BY_ALERT[ALERT.exec(code)?.[1] ?? ""];
  return refusal === undefined ? undefined : `${sentences[refusal]} (${code})`;
}
