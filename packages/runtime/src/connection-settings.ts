/**
 * The settings by which every process reaches Kafka and the schema registry. Settings that contradict each other stop
 * the start, and the error names them (SV1 of run-service.ts). The files that settings name are read here, once; only
 * the token's file is read at each login.
 */
import { z } from "zod";
import { flag, hostPorts } from "./config.ts";
import {
  CERTIFICATES,
  fileOf,
  isPair,
  PRIVATE_KEY,
  readCertificates,
  readPrivateKey,
  readSecret,
  SECRET,
} from "./named-file.ts";

const MECHANISMS = ["plain", "scram-sha-256", "scram-sha-512", "oauthbearer"] as const;

const connections = z.object({
  KAFKA_BROKERS: hostPorts(),
  KAFKA_TLS: flag().default(false),
  KAFKA_TLS_CA_FILE: fileOf(CERTIFICATES, readCertificates).optional(),
  KAFKA_TLS_CERT_FILE: fileOf(CERTIFICATES, readCertificates).optional(),
  KAFKA_TLS_KEY_FILE: fileOf(PRIVATE_KEY, readPrivateKey).optional(),
  KAFKA_SASL_MECHANISM: z.enum(MECHANISMS, `expected one of ${MECHANISMS.join(", ")}`).optional(),
  KAFKA_SASL_USERNAME: z.string().optional(),
  KAFKA_SASL_PASSWORD: z.string().optional(),
  KAFKA_SASL_PASSWORD_FILE: fileOf(SECRET, readSecret).optional(),
  KAFKA_SASL_TOKEN_FILE: z.string().optional(),
  SCHEMA_REGISTRY_URL: z.url({
    abort: true,
    protocol: /^https?$/,
    error: "expected the registry's URL, http:// or https://",
  }),
  SCHEMA_REGISTRY_CA_FILE: fileOf(CERTIFICATES, readCertificates).optional(),
  SCHEMA_REGISTRY_USERNAME: z.string().optional(),
  SCHEMA_REGISTRY_PASSWORD: z.string().optional(),
  SCHEMA_REGISTRY_PASSWORD_FILE: fileOf(SECRET, readSecret).optional(),
});
export type ConnectionConfig = z.output<typeof connections>;

/**
 * Makes the schema of a process's settings: the fields of `shape`, and its connections to Kafka and the registry. It
 * refuses contradictions and names the settings.
 */
export function withConnections<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.object({ ...connections.shape, ...shape }).superRefine((config, context) => {
    // The generic type hides the settings that are always there.
    for (const [name, message] of contradictions(config as unknown as ConnectionConfig)) {
      context.addIssue({ code: "custom", path: [name], message });
    }
  });
}

/** How to reach the brokers; fits `connectKafka`. */
export interface KafkaAccess {
  /** The `host:port` of each broker. */
  readonly brokers: readonly string[];
  /** PEM texts for TLS; when absent, connections are TCP without TLS. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  readonly login?: KafkaLogin;
}

/** The login at the brokers. */
export type KafkaLogin =
  | {
      readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512";
      readonly username: string;
      readonly password: string;
    }
  | { readonly mechanism: "oauthbearer"; readonly tokenFile: string };

/** How to reach the registry; fits `createOpenCodec`. */
export interface RegistryAccess {
  readonly url: string;
  /** PEM text of the authorities to trust instead of the usual ones. */
  readonly ca?: string;
  readonly login?: { readonly username: string; readonly password: string };
}

/** Makes the way to the brokers from settings that passed `withConnections`. */
export function kafkaAccess(config: ConnectionConfig): KafkaAccess {
  const { KAFKA_TLS_CA_FILE: ca, KAFKA_TLS_CERT_FILE: cert, KAFKA_TLS_KEY_FILE: key } = config;
  const login = kafkaLogin(config);
  const tls = { ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) };
  return { brokers: config.KAFKA_BROKERS, ...(config.KAFKA_TLS ? { tls } : {}), ...(login ? { login } : {}) };
}

function kafkaLogin(config: ConnectionConfig): KafkaLogin | undefined {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_TOKEN_FILE: tokenFile } = config;
  const password = config.KAFKA_SASL_PASSWORD ?? config.KAFKA_SASL_PASSWORD_FILE;
  if (mechanism === undefined) return undefined;
  if (mechanism === "oauthbearer") return tokenFile === undefined ? undefined : { mechanism, tokenFile };
  return username === undefined || password === undefined ? undefined : { mechanism, username, password };
}

/** Makes the way to the registry from settings that passed `withConnections`. */
export function registryAccess(config: ConnectionConfig): RegistryAccess {
  const { SCHEMA_REGISTRY_URL: url, SCHEMA_REGISTRY_CA_FILE: ca, SCHEMA_REGISTRY_USERNAME: username } = config;
  const password = config.SCHEMA_REGISTRY_PASSWORD ?? config.SCHEMA_REGISTRY_PASSWORD_FILE;
  const login = username === undefined || password === undefined ? undefined : { username, password };
  return { url, ...(ca ? { ca } : {}), ...(login ? { login } : {}) };
}

/** A setting's name, and the reason for which it contradicts others. */
type Contradiction = readonly [name: keyof ConnectionConfig, message: string];

function contradictions(config: ConnectionConfig): readonly Contradiction[] {
  return [...tlsContradictions(config), ...saslContradictions(config), ...registryContradictions(config)];
}

function tlsContradictions(config: ConnectionConfig): readonly Contradiction[] {
  const names = ["KAFKA_TLS_CA_FILE", "KAFKA_TLS_CERT_FILE", "KAFKA_TLS_KEY_FILE"] as const;
  const found: Contradiction[] = [];
  if (!config.KAFKA_TLS) {
    for (const name of given(config, names)) found.push([name, "set KAFKA_TLS to true too, or leave it out"]);
  }
  const { KAFKA_TLS_CERT_FILE: cert, KAFKA_TLS_KEY_FILE: key } = config;
  if (cert !== undefined && key === undefined) found.push(["KAFKA_TLS_KEY_FILE", "KAFKA_TLS_CERT_FILE wants its key"]);
  if (cert === undefined && key !== undefined)
    found.push(["KAFKA_TLS_CERT_FILE", "KAFKA_TLS_KEY_FILE is the key of one"]);
  if (cert !== undefined && key !== undefined && !isPair(cert, key)) {
    found.push([
      "KAFKA_TLS_KEY_FILE",
      "expected the key of the first certificate in KAFKA_TLS_CERT_FILE; it is another's",
    ]);
  }
  return found;
}

function saslContradictions(config: ConnectionConfig): readonly Contradiction[] {
  const passwords = ["KAFKA_SASL_PASSWORD", "KAFKA_SASL_PASSWORD_FILE"] as const;
  const ofUser = ["KAFKA_SASL_USERNAME", ...passwords] as const;
  const { KAFKA_SASL_MECHANISM: mechanism } = config;
  if (mechanism === undefined) {
    const message = "set KAFKA_SASL_MECHANISM too, or leave it out";
    return given(config, [...ofUser, "KAFKA_SASL_TOKEN_FILE"]).map((name) => [name, message]);
  }
  const isToken = mechanism === "oauthbearer";
  const strangers = given(config, isToken ? ofUser : ["KAFKA_SASL_TOKEN_FILE"]);
  const found: Contradiction[] = strangers.map((name) => [
    name,
    `leave it out: KAFKA_SASL_MECHANISM=${mechanism} has none`,
  ]);
  const wants = `KAFKA_SASL_MECHANISM=${mechanism} wants it`;
  if (isToken) return config.KAFKA_SASL_TOKEN_FILE === undefined ? [...found, ["KAFKA_SASL_TOKEN_FILE", wants]] : found;
  if (config.KAFKA_SASL_USERNAME === undefined) found.push(["KAFKA_SASL_USERNAME", wants]);
  return [...found, ...onePassword(config, passwords, wants)];
}

function registryContradictions(config: ConnectionConfig): readonly Contradiction[] {
  const passwords = ["SCHEMA_REGISTRY_PASSWORD", "SCHEMA_REGISTRY_PASSWORD_FILE"] as const;
  const url = new URL(config.SCHEMA_REGISTRY_URL);
  const found: Contradiction[] = [];
  if (config.SCHEMA_REGISTRY_CA_FILE !== undefined && url.protocol !== "https:") {
    found.push(["SCHEMA_REGISTRY_CA_FILE", "leave it out, or name an https:// URL in SCHEMA_REGISTRY_URL"]);
  }
  if (config.SCHEMA_REGISTRY_USERNAME === undefined) {
    for (const name of given(config, passwords))
      found.push([name, "set SCHEMA_REGISTRY_USERNAME too, or leave it out"]);
    return found;
  }
  if (url.username !== "" || url.password !== "") {
    const message = "SCHEMA_REGISTRY_URL holds a user already: leave it out there or here";
    return [...found, ["SCHEMA_REGISTRY_USERNAME", message]];
  }
  return [...found, ...onePassword(config, passwords, "SCHEMA_REGISTRY_USERNAME wants it")];
}

/** Reports a problem unless exactly one of the two settings is there. */
function onePassword(
  config: ConnectionConfig,
  names: readonly [keyof ConnectionConfig, keyof ConnectionConfig],
  wants: string,
): readonly Contradiction[] {
  const [direct, file] = names;
  const count = given(config, names).length;
  if (count === 2) return [[file, `leave it out, or ${direct}: one of the two`]];
  return count === 1 ? [] : [[direct, `${wants}, or ${file}`]];
}

function given<Name extends keyof ConnectionConfig>(config: ConnectionConfig, names: readonly Name[]): readonly Name[] {
  return names.filter((name) => config[name] !== undefined);
}
