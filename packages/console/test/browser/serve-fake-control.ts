/** The fake control over HTTP, with the built pages as the real one serves them. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { answerFile, type ConsoleFiles } from "../../served/console-files.ts";
import { PAGE_HEADERS } from "../../served/content-policy.ts";
import type { FakeControl } from "../fake-control.ts";

/** An address of a page that is no page of the console: with nothing on it, under the same headers. */
export const NOWHERE = "/nowhere.html";
/** Of which no icon is asked for. */
const NOTHING = '<!doctype html><link rel="icon" href="data:,">';

/** Returns the address at which it is. */
export async function serveFakeControl(control: FakeControl, files: ConsoleFiles): Promise<string> {
  const server = createServer((request, response) => {
    void handle(control, files, request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function handle(
  control: FakeControl,
  files: ConsoleFiles,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? "/", "http://fake");
  if (url.pathname === NOWHERE) {
    response.writeHead(200, { ...PAGE_HEADERS, "content-type": "text/html; charset=utf-8" }).end(NOTHING);
    return;
  }
  if (!url.pathname.startsWith("/v1/")) {
    const { status, headers, body } = answerFile(files.assets.get(url.pathname) ?? files.index, request.headers);
    response.writeHead(status, headers).end(body ?? undefined);
    return;
  }
  const reply = await control.ask({ method: request.method ?? "GET", url, body: await text(request) });
  if (reply === "stream") stream(control, url.searchParams, response);
  else response.writeHead(reply.status, reply.headers).end(reply.text ?? undefined);
}

function stream(control: FakeControl, asked: URLSearchParams, response: ServerResponse): void {
  // The page has closed it since: nothing would end it here.
  if (response.destroyed) return;
  const close = control.listen(asked, {
    say: (event, id, data) => {
      if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`);
    },
    end: () => response.destroy(),
  });
  response.once("close", close);
}
