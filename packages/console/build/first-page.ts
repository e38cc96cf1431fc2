/**
 * The build's layout of the files that every page loads.
 *
 * BG1  The page's beginning is small and waits for nothing: the data that every page reads is asked for while the
 *      console's own script is on its way.
 * BG2  That script is one file, and the page itself names it: a browser loads it beside the beginning, not after it.
 */
import type { Plugin } from "vite";

/** Vite's own, by which the beginning imports: it comes with that. */
const PRELOAD_HELPER = "\0vite/preload-helper.js";

interface Modules {
  readonly getModuleInfo: (id: string) => { readonly importedIds: readonly string[] } | null;
}

/** BG2: the groups of files that are made one each; `from`: the console's first module, by its whole path. */
export function groupsFrom(from: string) {
  let reached: Set<string> | undefined;
  return [
    { name: "begin", test: (id: string) => id === PRELOAD_HELPER, priority: 1 },
    {
      debugName: "console",
      name: (id: string, modules: Modules) => {
        reached ??= closureOf(from, modules);
        return reached.has(id) ? "console" : null;
      },
    },
  ];
}

function closureOf(from: string, modules: Modules): Set<string> {
  const reached = new Set([from]);
  for (const id of reached) for (const imported of modules.getModuleInfo(id)?.importedIds ?? []) reached.add(imported);
  return reached;
}

/** BG2: `from` as above. */
export function nameEarly(from: string): Plugin {
  return {
    name: "posthaste:name-early",
    transformIndexHtml: {
      order: "post",
      handler: (_, { bundle = {}, chunk: entry }) => {
        const chunks = Object.values(bundle).flatMap((each) => (each.type === "chunk" ? [each] : []));
        const console = chunks.find(({ moduleIds }) => moduleIds.includes(from));
        if (console === undefined || entry === undefined) throw new Error(`no script has ${from}`);
        const named = new Set([entry.fileName, ...entry.imports]);
        const beside = chunks.filter(({ fileName }) => console.imports.includes(fileName) && !named.has(fileName));
        const styles = [console, ...beside].flatMap(({ viteMetadata }) => [...(viteMetadata?.importedCss ?? [])]);
        return [
          ...[console, ...beside].map(({ fileName }) => linkTo("modulepreload", fileName)),
          ...[...new Set(styles)].map((fileName) => linkTo("stylesheet", fileName)),
        ];
      },
    },
  };
}

function linkTo(rel: string, fileName: string) {
  return { tag: "link", attrs: { rel, crossorigin: true, href: `/${fileName}` }, injectTo: "head" as const };
}
