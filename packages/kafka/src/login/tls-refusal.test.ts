import { describe, expect, it } from "vitest";
import { brokerTlsRefusal, registryTlsRefusal } from "./tls-refusal.ts";

const withCode = (code: string) => Object.assign(new Error("no"), { code });

describe("what to change when TLS refuses a connection", () => {
  it.each([
    ["SELF_SIGNED_CERT_IN_CHAIN", "KAFKA_TLS_CA_FILE", "SCHEMA_REGISTRY_CA_FILE"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "KAFKA_TLS_CA_FILE", "SCHEMA_REGISTRY_CA_FILE"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "KAFKA_TLS_CA_FILE", "SCHEMA_REGISTRY_CA_FILE"],
    ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "KAFKA_TLS_CA_FILE", "SCHEMA_REGISTRY_CA_FILE"],
    [
      "CERT_HAS_EXPIRED",
      "the broker's certificate is out of its time",
      "the registry's certificate is out of its time",
    ],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "name the brokers in KAFKA_BROKERS", "name the registry in SCHEMA_REGISTRY_URL"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "set KAFKA_TLS to false", "begin SCHEMA_REGISTRY_URL with http://"],
    ["ERR_SSL_PACKET_LENGTH_TOO_LONG", "set KAFKA_TLS to false", "begin SCHEMA_REGISTRY_URL with http://"],
    ["EPROTO", "set KAFKA_TLS to false", "begin SCHEMA_REGISTRY_URL with http://"],
    ["ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE", "wants a certificate of its client", "wants a certificate of its client"],
    ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "KAFKA_TLS_KEY_FILE", "wants a certificate of its client"],
    ["ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_UNKNOWN", "does not trust KAFKA_TLS_CERT_FILE", "does not trust"],
    ["ERR_SSL_TLSV1_ALERT_UNKNOWN_CA", "does not trust KAFKA_TLS_CERT_FILE", "does not trust"],
    ["ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION", "no version of TLS or no cipher in common", "in common"],
  ])("is named by its code, and the code with it: %s", (code, ofBroker, ofRegistry) => {
    expect(brokerTlsRefusal(withCode(code))).toContain(ofBroker);
    expect(brokerTlsRefusal(withCode(code))).toContain(`(${code})`);
    expect(registryTlsRefusal(withCode(code))).toContain(ofRegistry);
    expect(registryTlsRefusal(withCode(code))).not.toContain("KAFKA_");
  });

  it.each([withCode("ECONNREFUSED"), withCode("ERR_SSL_TLSV1_ALERT_DECODE_ERROR"), new Error("no"), null, "no"])(
    "is nothing where TLS has no part in it: %s",
    (error) => {
      expect([brokerTlsRefusal(error), registryTlsRefusal(error)]).toEqual([undefined, undefined]);
    },
  );
});
