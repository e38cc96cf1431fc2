import type { ConsoleFile, ConsoleFiles } from "@posthaste/console/files";
import { SILENT_LOG } from "@posthaste/core/log";
import { PROBLEM_TYPE, Problem } from "@posthaste/http-kit/problem";
import { createRequestMetrics } from "@posthaste/http-kit/request-metrics";
import { createServer } from "@posthaste/http-kit/server";
import type { FastifyInstance } from "fastify";
import { Registry } from "prom-client";
import { afterEach, describe, expect, it } from "vitest";
import { consolePages } from "./console-pages.ts";

const HTML = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

function fileOf(text: string, headers: Readonly<Record<string, string>>): ConsoleFile {
  return { body: Buffer.from(text), gzipped: null, etag: `"${text}"`, headers };
}

const pages: ConsoleFiles = {
  index: fileOf("the page", { "cache-control": "no-cache", "content-security-policy": "default-src 'none'" }),
  assets: new Map([["/assets/a-12345678.js", fileOf("the script", { "content-type": "text/javascript" })]]),
};

let server: FastifyInstance;

function serve(files: ConsoleFiles | null): FastifyInstance {
  server = createServer({
    ...{ routes: [], version: "0", examples: {}, log: SILENT_LOG, metrics: createRequestMetrics(new Registry()) },
    callers: {
      needs: {},
      isStillAllowed: () => true,
      callerOf: () => {
        throw new Problem("unauthorized", "send a token");
      },
    },
    readiness: async () => ({}),
    isCaughtUp: () => true,
    pages: files === null ? null : consolePages(files),
  });
  return server;
}

afterEach(() => server.close());

describe("the web pages", () => {
  it.each(["/", "/deliveries", "/events/message-7?tab=raw", "/index.html", "/v10"])(
    "are the one page at %s, for nobody who is known",
    async (url) => {
      const answer = await serve(pages).inject({ url, headers: HTML });
      expect([answer.statusCode, answer.body]).toEqual([200, "the page"]);
      expect(answer.headers).toMatchObject({
        "cache-control": "no-cache",
        "content-security-policy": "default-src 'none'",
        "x-request-id": expect.stringMatching(/^req_/),
      });
    },
  );

  it.each([
    ["/v1/nothing", HTML],
    ["/v1", HTML],
    ["/", {}],
    ["/deliveries", { accept: "application/json" }],
    ["/assets/a-87654321.js", {}],
  ])("are not at %s, asked for with %j", async (url, headers) => {
    const answer = await serve(pages).inject({ url, headers });
    expect([answer.statusCode, answer.headers["content-type"]]).toEqual([401, PROBLEM_TYPE]);
  });

  it("are nowhere where they were not built", async () => {
    expect((await serve(null).inject({ url: "/", headers: HTML })).statusCode).toBe(401);
  });

  it.each(["/assets/../package.json", "/assets/%2e%2e/package.json", "/assets/..%2fpackage.json", "//assets/a"])(
    "lead to no other file: %s",
    async (url) => {
      const answer = await serve(pages).inject({ url });
      expect([answer.statusCode, answer.headers["content-type"]]).toEqual([401, PROBLEM_TYPE]);
    },
  );

  it("load what they name by its whole path", async () => {
    const answer = await serve(pages).inject({ url: "/assets/a-12345678.js" });
    expect([answer.statusCode, answer.body, answer.headers["content-type"]]).toEqual([
      ...[200, "the script", "text/javascript"],
    ]);
  });

  it("are not sent again to who has them", async () => {
    const answer = await serve(pages).inject({ url: "/", headers: { ...HTML, "if-none-match": '"the page"' } });
    expect([answer.statusCode, answer.body, answer.headers["etag"]]).toEqual([304, "", '"the page"']);
  });

  it("tell of their length to a HEAD, and nothing else", async () => {
    for (const url of ["/", "/assets/a-12345678.js"]) {
      const answer = await serve(pages).inject({ method: "HEAD", url, headers: HTML });
      expect([answer.statusCode, answer.body, Number(answer.headers["content-length"])]).toEqual([
        ...[200, "", url === "/" ? 8 : 10],
      ]);
      await server.close();
    }
  });

  it("take nothing", async () => {
    const answer = await serve(pages).inject({ method: "POST", url: "/deliveries", headers: HTML });
    expect(answer.statusCode).toBe(401);
  });
});
