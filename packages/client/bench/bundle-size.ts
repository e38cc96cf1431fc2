/** Fails when the library, bundled and minified for a browser, is larger than it should be for anyone to notice. */
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const MAX_GZIPPED_BYTES = 6 * 1024;

const result = await build({
  entryPoints: [fileURLToPath(new URL("../dist/index.js", import.meta.url))],
  bundle: true,
  minify: true,
  format: "esm",
  platform: "browser",
  target: "es2022",
  write: false,
});
const [bundle] = result.outputFiles;
const minified = bundle?.contents ?? new Uint8Array();
const gzippedBytes = gzipSync(minified).length;
console.log(`bundle: ${minified.length} bytes minified, ${gzippedBytes} gzipped, ${MAX_GZIPPED_BYTES} allowed`);
if (minified.length === 0 || gzippedBytes > MAX_GZIPPED_BYTES) process.exitCode = 1;
