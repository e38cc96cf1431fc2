/**
 * Makes the registry's client from the settings of its connection: HTTP or HTTPS, authorities of its own, Basic
 * authentication. Questions for which the client has no call go over the same connection.
 */
import { type IncomingMessage, Agent as PlainAgent, request as requestByHttp } from "node:http";
import { Agent, type AgentOptions, type RequestOptions, request as requestByHttps } from "node:https";
import { json } from "node:stream/consumers";
import { SchemaRegistry, SchemaType } from "@kafkajs/confluent-schema-registry";
import { isJsonObject } from "@posthaste/core/call/json-fragment";
import { isLoopback } from "../login/loopback.ts";
import { registryTlsRefusal } from "../login/tls-refusal.ts";
import { boundAnswers } from "./answer-bounds.ts";
import { viewBytes } from "./bytes-view.ts";

export interface RegistryOptions {
  /** The registry's base URL, its path included; a user and password in it are used for Basic authentication. */
  readonly url: string;
  /** PEM text of the authorities to trust instead of the usual ones. */
  readonly ca?: string;
  /** For Basic authentication, where the URL has no user. */
  readonly login?: RegistryLogin;
}

/** This is no interface since the registry's client asks for a type that may have more fields. */
export type RegistryLogin = { readonly username: string; readonly password: string };

export interface Registry {
  /** The URL without user and password. */
  readonly host: string;
  readonly client: SchemaRegistry;
  /**
   * Returns a schema as the registry holds it; undefined when the answer names none. Rejects when no answer comes in
   * time.
   */
  readonly fetchText: (schemaId: number, timeoutMs: number) => Promise<unknown>;
  /** Asks any other question, by the path behind the registry's URL. Rejects when no answer comes within 5 s. */
  readonly ask: (method: "GET" | "PUT" | "POST", path: string, body?: object) => Promise<JsonAnswer>;
  /** True when the password leaves this machine unencrypted. */
  readonly isClearText: boolean;
  /** Advice after an answer with this status, or after no answer; undefined where there is none. */
  readonly advice: (status: unknown) => string | undefined;
}

/** How long a question to the registry may take, in ms. */
export const ANSWER_DEADLINE_MS = 5000;

/** A schema is some kilobytes, and many times that with all that a registry tells of it. */
const ANSWER_BOUNDS = { maxBytes: 1024 * 1024, deadlineMs: ANSWER_DEADLINE_MS, who: "the schema registry" };

/** Makes the client, which connects when it is first asked. */
export function openRegistry({ url, ca, login }: RegistryOptions): Registry {
  const { host, login: loginOfUrl } = splitCredentials(url);
  const auth = loginOfUrl ?? login;
  const { protocol, hostname } = new URL(host);
  const noting = protocol === "https:" ? new NotingAgent(ca === undefined ? {} : { ca }) : undefined;
  const bounded = boundAnswers(noting ?? new PlainAgent({ keepAlive: true }), ANSWER_BOUNDS);
  const { agent } = bounded;
  const client = new SchemaRegistry(
    { host, clientId: "posthaste", retry: { retries: 0 }, ...(auth ? { auth } : {}), agent },
    { [SchemaType.AVRO]: { typeHook: viewBytes } },
  );
  const headers = auth === undefined ? {} : { authorization: basic(auth) };
  const ask = (method: "GET" | "PUT" | "POST", path: string, { body, timeoutMs }: Asked) =>
    requestJson(`${host}${path}`, { method, headers, signal: AbortSignal.timeout(timeoutMs), agent }, body);
  return {
    host,
    client,
    fetchText: async (schemaId, timeoutMs) => {
      const answer = await ask("GET", `/schemas/ids/${schemaId}`, { timeoutMs });
      return answer.status === 200 && isJsonObject(answer.body) ? answer.body["schema"] : undefined;
    },
    ask: (method, path, body) => ask(method, path, { body, timeoutMs: ANSWER_DEADLINE_MS }),
    isClearText: auth !== undefined && protocol === "http:" && !isLoopback(hostname),
    advice: (status) => loginAdvice(status, auth) ?? registryTlsRefusal(noting?.failure) ?? bounded.broken ?? undefined,
  };
}

/** An agent that notes why its last connection failed, since the registry's client keeps only the error's text. */
class NotingAgent extends Agent {
  /** The last failure; null once a connection has succeeded since. */
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

interface Asked {
  readonly body?: object | undefined;
  readonly timeoutMs: number;
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

/** Asks the registry a question by HTTP or HTTPS and reads its answer as JSON. */
interface JsonAnswer {
  readonly status: number;
  /** The answer's JSON; undefined where the answer is an error or no JSON. */
  readonly body: unknown;
}

/** Asks the question. Rejects when no answer comes, and when the options' signal ends the wait. */
async function requestJson(url: string, options: RequestOptions, body?: object): Promise<JsonAnswer> {
  const request = url.startsWith("https:") ? requestByHttps : requestByHttp;
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = text === undefined ? options.headers : { ...options.headers, "content-type": "application/json" };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, headers === undefined ? options : { ...options, headers }, resolve)
      .once("error", reject)
      .end(text);
  });
  const status = response.statusCode ?? 0;
  if (status === 200) return { status, body: await json(response) };
  response.resume();
  return { status, body: undefined };
}
