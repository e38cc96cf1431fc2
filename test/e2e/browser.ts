/**
 * A real browser with a page that has the Segment library in it, on an origin of its own.
 *
 * Owns: the browser's process and the page's server.
 * - The page's origin is another than ingest's, so that each request of the library is one that CORS rules.
 * - Nothing leaves 127.0.0.1: the rest goes to a proxy that is not there. Interception inside the browser would answer
 *   preflights by itself, and preflights are tested here.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Analytics, AnalyticsBrowser } from "@segment/analytics-next";
import { build } from "esbuild";
import { chromium, type JSHandle, type Page } from "playwright-core";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--proxy-server=http://127.0.0.1:9",
  "--proxy-bypass-list=127.0.0.1",
];

/** For whatever a person waits for on a page. */
const PATIENCE_MS = 90_000;

const PAGE = '<!doctype html><title>Shop</title><link rel="icon" href="data:,"><script src="/library.js"></script>';

/** One request as the browser sent it, preflights among them. */
export interface BrowserRequest {
  readonly method: string;
  readonly url: string;
  /** Seconds on a clock of the browser's own. */
  readonly sentAtS: number;
  /** Undefined until the answer's headers came. */
  readonly answer?: { readonly status: number; readonly atS: number; readonly retryAfterS?: number };
}

export interface LoadOptions {
  readonly writeKey: string;
  /** Where both the settings and the calls of the library come to. */
  readonly ingestUrl: string;
  /** Calls in a full batch, and ms that fewer wait; each call is sent by itself when left out. */
  readonly batching?: { readonly size: number; readonly timeout: number };
}

export interface Visit {
  readonly page: Page;
  /** The requests to other origins than the page's own, in the order they were sent. */
  readonly requests: () => readonly BrowserRequest[];
  /** Starts the library as a customer's page does, and resolves when it has its settings. */
  readonly load: (options: LoadOptions) => Promise<JSHandle<Analytics>>;
}

export interface Browser {
  /** Scheme, host and port of the page. */
  readonly origin: string;
  /** Opens the page with empty storage. */
  readonly visit: () => Promise<Visit>;
  /** A page with empty storage that is nowhere yet. */
  readonly openPage: () => Promise<Page>;
  readonly closePages: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Starts the browser that is at `executablePath`, with a new and empty profile. */
export async function startBrowser(executablePath: string): Promise<Browser> {
  // Many a test has no page with the library in it.
  let library: Promise<string> | undefined;
  const server = createServer((request, response) => {
    if (request.url !== "/library.js") {
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.end(PAGE);
      return;
    }
    library ??= bundleLibrary();
    response.setHeader("content-type", "text/javascript");
    library.then(
      (text) => response.end(text),
      (error: Error) => response.destroy(error),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const browser = await chromium.launch({ executablePath, args: FLAGS });

  return {
    origin,
    visit: async () => {
      const context = await browser.newContext();
      const page = await context.newPage();
      const requests = await recordRequests(page, origin);
      await page.goto(`${origin}/shop?utm_source=letter&utm_campaign=spring`);
      return { page, requests, load: (options) => page.evaluateHandle(loadInPage, options) };
    },
    openPage: async () => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
      context.setDefaultTimeout(PATIENCE_MS);
      return context.newPage();
    },
    closePages: async () => {
      await Promise.all(browser.contexts().map((context) => context.close()));
    },
    close: async () => {
      await browser.close();
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Runs in the page, so it may refer to nothing outside itself. */
async function loadInPage({ writeKey, ingestUrl, batching }: LoadOptions): Promise<Analytics> {
  const { AnalyticsBrowser: library } = globalThis as unknown as LibraryGlobals;
  const [analytics] = await library.load(
    { writeKey, cdnURL: ingestUrl },
    {
      integrations: {
        "Segment.io": {
          apiHost: `${new URL(ingestUrl).host}/v1`,
          protocol: "http",
          ...(batching ? { deliveryStrategy: { strategy: "batching", config: batching } } : {}),
        },
      },
    },
  );
  return analytics;
}

interface LibraryGlobals {
  readonly AnalyticsBrowser: typeof AnalyticsBrowser;
}

/** The library as a script of one file, put where the page's code finds it. */
async function bundleLibrary(): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: 'export { AnalyticsBrowser } from "@segment/analytics-next";',
      resolveDir: import.meta.dirname,
    },
    footer: { js: "globalThis.AnalyticsBrowser = library.AnalyticsBrowser;" },
    bundle: true,
    format: "iife",
    globalName: "library",
    platform: "browser",
    write: false,
  });
  const [file] = outputFiles;
  if (!file) throw new Error("the bundler wrote no file");
  return file.text;
}

/** By the DevTools protocol, since the driver's own events leave preflights out. */
async function recordRequests(page: Page, origin: string): Promise<() => readonly BrowserRequest[]> {
  const requests = new Map<string, BrowserRequest>();
  const session = await page.context().newCDPSession(page);
  session.on("Network.requestWillBeSent", ({ requestId, request, timestamp }) => {
    const { method, url } = request;
    if (url.startsWith("data:") || url.startsWith(`${origin}/`)) return;
    requests.set(requestId, { method, url, sentAtS: timestamp });
  });
  session.on("Network.responseReceived", ({ requestId, response, timestamp }) => {
    const request = requests.get(requestId);
    const retryAfter = response.headers["retry-after"];
    const answer = {
      status: response.status,
      atS: timestamp,
      ...(retryAfter ? { retryAfterS: Number(retryAfter) } : {}),
    };
    if (request) requests.set(requestId, { ...request, answer });
  });
  await session.send("Network.enable");
  return () => [...requests.values()];
}
