/** Asks the registry a question by HTTP or HTTPS and reads its answer as JSON. */
import { type IncomingMessage, request as requestByHttp } from "node:http";
import { type RequestOptions, request as requestByHttps } from "node:https";
import { json } from "node:stream/consumers";

export interface JsonAnswer {
  readonly status: number;
  /** The answer's JSON; undefined where the answer is an error or no JSON. */
  readonly body: unknown;
}

/** Asks the question. Rejects when no answer comes, and when the options' signal ends the wait. */
export async function requestJson(url: string, options: RequestOptions, body?: object): Promise<JsonAnswer> {
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
