/** Builds the pages into `dist` and holds them to their size. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { assertSmall, type BuiltFile } from "./budget.ts";
import { groupsFrom, nameEarly } from "./first-page.ts";
import { sourcesHash } from "./sources.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const consoleModule = join(root, "src/console.tsx");

// The caller of the build may run as a test: React for development is never served.
process.env["NODE_ENV"] = "production";
// Before the build: a file changed meanwhile is built the next time.
const hash = sourcesHash();
await build({
  root,
  configFile: false,
  logLevel: "warn",
  plugins: [nameEarly(consoleModule)],
  // PostCSS does not tell vite the file of a class that another composes.
  css: { transformer: "lightningcss" },
  build: {
    outDir: dist,
    emptyOutDir: true,
    manifest: ".manifest.json",
    // Fonts and images as files: the content policy has no data: for fonts.
    assetsInlineLimit: 0,
    // Every browser that knows the console's CSS preloads modules.
    modulePreload: { polyfill: false },
    // Of gzipped scripts: budget.ts.
    chunkSizeWarningLimit: Number.POSITIVE_INFINITY,
    target: "es2023",
    cssTarget: ["chrome123", "firefox121", "safari17.5"],
    rolldownOptions: {
      output: { codeSplitting: { groups: groupsFrom(consoleModule) } },
      onLog: (level, log, report) => {
        // "use client" is for a server's renderer and means nothing to a browser.
        if (log.code !== "MODULE_LEVEL_DIRECTIVE") report(level, log);
      },
    },
  },
});
const manifest: Readonly<Record<string, BuiltFile>> = JSON.parse(await readFile(join(dist, ".manifest.json"), "utf8"));
const files = (await readdir(dist, { recursive: true })).filter((path) => path.endsWith(".js"));
const scripts = new Map(
  await Promise.all(files.map(async (path) => [path, await readFile(join(dist, path))] as const)),
);
process.stdout.write(`${assertSmall(manifest, scripts)}\n`);
await writeFile(join(dist, ".sources"), hash);
