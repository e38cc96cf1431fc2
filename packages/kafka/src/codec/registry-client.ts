/**
 * The registry's client, made of how the registry is reached: by HTTP or HTTPS, with an authority of its own, with
 * Basic authentication. The one question that the client has no call for goes the same way.
 */
import { get as getByHttp, type IncomingMessage } from "node:http";
import { Agent, type AgentOptions, get as getByHttps, type RequestOptions } from "node:https";
import { json } from "node:stream/consumers";
import { SchemaRegistry, SchemaType } from "@kafkajs/confluent-schema-registry";
import { isLoopback } from "../login/loopback.ts";
import { registryTlsRefusal } from "../login/tls-refusal.ts";
import { viewBytes } from "./bytes-view.ts";

export interface RegistryOptions {
  /** The registry's base URL, its path included; a user and password in it are used for Basic authentication. */
  readonly url: string;
  /** PEM text of the authorities to trust instead of the usual ones. */
  readonly ca?: string;
  /** For Basic authentication, where the URL names nobody. */
  readonly login?: RegistryLogin;
}

/** Not an interface: the registry's client wants a type that may have more names. */
export type RegistryLogin = { readonly username: string; readonly password: string };

export interface Registry {
  /** The URL without user and password. */
  readonly host: string;
  readonly client: SchemaRegistry;
  /**
   * A schema as the registry holds it; undefined when the answer names none. Rejects when there is no answer in time.
   */
  readonly fetchText: (schemaId: number, timeoutMs: number) => Promise<unknown>;
  /** The password leaves this machine for everybody on the way to read. */
  readonly isClearText: boolean;
  /** What to change after an answer with this status, or after none; undefined when nobody here can say. */
  readonly advice: (status: unknown) => string | undefined;
}

/** Connects nothing yet. */
export function openRegistry({ url, ca, login }: RegistryOptions): Registry {
  const { host, login: loginOfUrl } = splitCredentials(url);
  const auth = loginOfUrl ?? login;
  const { protocol, hostname } = new URL(host);
  const agent = protocol === "https:" ? new NotingAgent(ca === undefined ? {} : { ca }) : undefined;
  const ways = agent === undefined ? {} : { agent };
  const client = new SchemaRegistry(
    { host, clientId: "posthaste", retry: { retries: 0 }, ...(auth ? { auth } : {}), ...ways },
    { [SchemaType.AVRO]: { typeHook: viewBytes } },
  );
  const headers = auth === undefined ? {} : { authorization: basic(auth) };
  return {
    host,
    client,
    fetchText: async (schemaId, timeoutMs) => {
      const options = { headers, signal: AbortSignal.timeout(timeoutMs), ...ways };
      return schemaOf(await getJson(`${host}/schemas/ids/${schemaId}`, options));
    },
    isClearText: auth !== undefined && protocol === "http:" && !isLoopback(hostname),
    advice: (status) => loginAdvice(status, auth) ?? registryTlsRefusal(agent?.failure),
  };
}

/** An agent that notes why its last connection failed: the registry's client keeps the text of that alone. */
class NotingAgent extends Agent {
  /** Null since a connection came about. */
  failure: unknown = null;

  constructor(options: AgentOptions) {
    super({ ...options, keepAlive: true });
  }

  override createConnection(...args: Parameters<Agent["createConnection"]>): ReturnType<Agent["createConnection"]> {
    const socket = super.createConnection(...args);
    socket?.once("secureConnect", () => {
      this.failure = null;
    });
    socket?.once("error", (error) => {
      this.failure = error;
    });
    return socket;
  }
}

function loginAdvice(status: unknown, login: RegistryLogin | undefined): string | undefined {
  if (status !== 401 && status !== 403) return undefined;
  if (login === undefined) {
    return `the registry wants a login: set SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD (${status})`;
  }
  return status === 401
    ? `the registry does not take SCHEMA_REGISTRY_USERNAME ${login.username} with its password: set SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD to a user that it knows (401)`
    : `the registry does not let SCHEMA_REGISTRY_USERNAME ${login.username} do this: allow it to read and register schemas (403)`;
}

/** The answer's JSON; undefined for one that is not good. */
async function getJson(url: string, options: RequestOptions): Promise<unknown> {
  const get = url.startsWith("https:") ? getByHttps : getByHttp;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, options, resolve).once("error", reject);
  });
  if (response.statusCode === 200) return json(response);
  response.resume();
  return undefined;
}

function schemaOf(answer: unknown): unknown {
  return typeof answer === "object" && answer !== null && "schema" in answer ? answer.schema : undefined;
}

function basic({ username, password }: RegistryLogin): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

function splitCredentials(url: string): { readonly host: string; readonly login?: RegistryLogin } {
  const parsed = new URL(url);
  const { username, password } = parsed;
  parsed.username = "";
  parsed.password = "";
  const host = parsed.href.replace(/\/$/, "");
  if (username === "") return { host };
  return { host, login: { username: decodeURIComponent(username), password: decodeURIComponent(password) } };
}
