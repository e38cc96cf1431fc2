import { fileURLToPath } from "node:url";
import { projectConfig, UNIT_RUN } from "@posthaste/tooling/vitest";
import type { Plugin } from "vite";
import { mergeConfig } from "vitest/config";

/**
 * What a page loads when it comes to it is there from the first: a page in the process has a time of its own, in which
 * no module is waited for.
 */
const nothingLater: Plugin = {
  name: "posthaste:nothing-later",
  enforce: "pre",
  transform(code, id) {
    if (!id.includes("/console/src/")) return null;
    const loaded: string[] = [];
    const changed = code.replace(/\bimport\(("[^"]+")\)/g, (_, path: string) => {
      loaded.push(`import * as later${loaded.length} from ${path};`);
      return `Promise.resolve(later${loaded.length - 1})`;
    });
    return loaded.length === 0 ? null : { code: `${changed}\n${loaded.join("\n")}`, map: null };
  },
};

/** What React checks for its developers costs a story as much as the page: a line of the long ring has it. */
const isForDevelopers = process.env["POSTHASTE_CONSOLE"] === "development";

const config = mergeConfig(projectConfig("console", { testTimeoutMs: 120_000 }), {
  plugins: [nothingLater],
  oxc: { jsx: { runtime: "automatic", development: isForDevelopers } },
  // The name of a file stays in its address, as the build has it.
  build: { assetsInlineLimit: 0 },
  css: { transformer: "lightningcss", lightningcss: { cssModules: { pattern: "[name]-[local]" } } },
  test: {
    // What the pages in the process are displayed by.
    css: { include: [/\.module\.css/] },
    globalSetup: [fileURLToPath(new URL("./test/global-setup.ts", import.meta.url))],
    // All files of a process draw into one window, and import the console once.
    isolate: false,
    env: { NODE_ENV: isForDevelopers ? "development" : "production" },
    // They keep a core busy each, and run beside the unit tests.
    ...UNIT_RUN,
  },
});
// Vitest hands them on to Node: by `import`, what jsdom requires would be modules.
const conditions = ["@posthaste/source", "node", "module"];
config.resolve.conditions = conditions;
config.ssr.resolve.conditions = conditions;

export default config;
