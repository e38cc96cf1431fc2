/**
 * Makes the settings of brokers that authenticate their clients. Clients log in by SASL over TLS. The operator of the
 * cluster (brokers and controllers among themselves, the local command) shows a certificate and may do everything.
 * Pure.
 */

/** The ways to log in, as a service's `KAFKA_SASL_MECHANISM` names them. */
export const SASL_MECHANISMS = ["plain", "scram-sha-256", "scram-sha-512", "oauthbearer"] as const;
export type SaslMechanism = (typeof SASL_MECHANISMS)[number];

export interface User {
  readonly name: string;
  readonly password: string;
}

export interface SecuredListeners {
  readonly mechanisms: readonly SaslMechanism[];
  /** PEM file with the private key and the certificate of the broker `id`. */
  readonly keyFile: (id: number) => string;
  /** PEM file of the authority that issued the certificates of brokers and operators. */
  readonly authorityFile: string;
  /** Names in the certificates of those who may do everything; a broker that is not among them cannot join. */
  readonly operators: readonly string[];
  /** Whether a user without grants may do nothing or everything. */
  readonly ungranted: "nothing" | "everything";
  /** Users of the mechanism `plain`, which stand in the broker's settings; users of SCRAM are the cluster's own. */
  readonly plainUsers?: readonly User[];
}

const KAFKA_SECURITY = "org.apache.kafka.common.security";

/** The settings of broker `id` beside its addresses. */
export function securedListeners(id: number, security: SecuredListeners): Record<string, string> {
  return {
    "listener.security.protocol.map": "CLIENTS:SASL_SSL,INTERNAL:SSL,CONTROLLER:SSL",
    "ssl.keystore.type": "PEM",
    "ssl.keystore.location": security.keyFile(id),
    "ssl.truststore.type": "PEM",
    "ssl.truststore.location": security.authorityFile,
    "listener.name.internal.ssl.client.auth": "required",
    "listener.name.controller.ssl.client.auth": "required",
    "sasl.enabled.mechanisms": security.mechanisms.map((mechanism) => mechanism.toUpperCase()).join(","),
    ...Object.fromEntries(
      security.mechanisms.map((mechanism) => [
        `listener.name.clients.${mechanism}.sasl.jaas.config`,
        loginModule(mechanism, security.plainUsers ?? []),
      ]),
    ),
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": security.operators.map((name) => `User:CN=${name}`).join(";"),
    "allow.everyone.if.no.acl.found": String(security.ungranted === "everything"),
  };
}

function loginModule(mechanism: SaslMechanism, users: readonly User[]): string {
  switch (mechanism) {
    case "plain": {
      const options = users.map(({ name, password }) => ` user_${name}="${password}"`);
      return `${KAFKA_SECURITY}.plain.PlainLoginModule required${options.join("")};`;
    }
    case "scram-sha-256":
    case "scram-sha-512":
      return `${KAFKA_SECURITY}.scram.ScramLoginModule required;`;
    case "oauthbearer":
      // The broker takes tokens without a signature, for tests alone, which have no identity provider.
      return `${KAFKA_SECURITY}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";`;
  }
}
