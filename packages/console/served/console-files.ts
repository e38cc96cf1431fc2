/**
 * The built pages as a server hands them out.
 *
 * Owns: every file of `dist`, read once.
 * - What is handed out is found by its whole path among what was read: no path of a request leads to a disk.
 * - Only what has its content's hash in its name is kept for good; the page itself is asked for each time.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { PAGE_HEADERS } from "./content-policy.ts";

const DIST = fileURLToPath(new URL("../dist", import.meta.url));
const INDEX = "/index.html";
/** Vite puts what it names by a hash here, and nothing else. */
const HASHED = /^\/assets\//;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".woff2": "font/woff2",
};

export interface ConsoleFile {
  readonly body: Buffer;
  /** Made when it is first asked for: all files take a tenth of a second. Null where that would not be shorter. */
  readonly gzipped: Buffer | null;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ConsoleFiles {
  /** The page of every address of the console. */
  readonly index: ConsoleFile;
  /** The others by their paths, such as `/assets/index-4f2a.js`. */
  readonly assets: ReadonlyMap<string, ConsoleFile>;
}

export interface FileAnswer {
  readonly status: 200 | 304;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

/** Null where nothing was built. Throws for a file of a kind that has no media type here. */
export async function readConsoleFiles(folder: string = DIST): Promise<ConsoleFiles | null> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith("."))
    .map((entry) => join(entry.parentPath, entry.name));
  const files = await Promise.all(
    paths.map(async (path) => {
      const asked = path.slice(folder.length).split(sep).join("/");
      return [asked, await readConsoleFile(path, asked)] as const;
    }),
  );
  const assets = new Map(files);
  const index = assets.get(INDEX);
  if (index === undefined) return null;
  assets.delete(INDEX);
  return { index, assets };
}

async function readConsoleFile(path: string, asked: string): Promise<ConsoleFile> {
  const type = MEDIA_TYPES[extname(path)];
  if (type === undefined) throw new Error(`${path} has no media type: name it in console-files.ts`);
  const body = await readFile(path);
  let gzipped: Buffer | null | undefined;
  return {
    body,
    get gzipped() {
      if (gzipped === undefined) gzipped = shorter(gzipSync(body, { level: 9 }), body);
      return gzipped;
    },
    etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 27)}"`,
    headers: {
      ...PAGE_HEADERS,
      "cache-control": HASHED.test(asked) ? "public, max-age=31536000, immutable" : "no-cache",
      "content-type": type,
    },
  };
}

function shorter(packed: Buffer, body: Buffer): Buffer | null {
  return packed.length < body.length ? packed : null;
}

/** What a GET or HEAD with these headers is answered. */
export function answerFile(
  file: ConsoleFile,
  asked: Readonly<Record<string, string | readonly string[] | undefined>>,
): FileAnswer {
  const { body, etag, headers } = file;
  const kept = { ...headers, etag, vary: "accept-encoding" };
  if (String(asked["if-none-match"] ?? "").includes(etag)) return { status: 304, headers: kept, body: null };
  const takesGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(String(asked["accept-encoding"] ?? ""));
  const gzipped = takesGzip ? file.gzipped : null;
  if (gzipped === null) return { status: 200, headers: kept, body };
  return { status: 200, headers: { ...kept, "content-encoding": "gzip" }, body: gzipped };
}
