/** How much JavaScript the pages may be. */
import { gzipSync } from "node:zlib";

const FIRST_PAGE_BYTES = 250 * 1024;
const ALL_BYTES = 400 * 1024;

/** Of Vite's manifest. */
export interface BuiltFile {
  readonly file: string;
  readonly isEntry?: boolean;
  /** Those that are loaded with it, by their names in the manifest. */
  readonly imports?: readonly string[];
  /** Of the page's beginning: the console's script, which every page loads. */
  readonly dynamicImports?: readonly string[];
}

/**
 * Returns the sizes in one line, gzipped. `scripts`: every one that was built, by its path in `dist`. Throws for too
 * much of it.
 */
export function assertSmall(
  manifest: Readonly<Record<string, BuiltFile>>,
  scripts: ReadonlyMap<string, Uint8Array>,
): string {
  const sizes = new Map([...scripts].map(([path, bytes]) => [path, gzipSync(bytes).length]));
  const first = new Set<string>();
  const add = (name: string): void => {
    const built = manifest[name];
    if (built === undefined || first.has(built.file)) return;
    first.add(built.file);
    for (const imported of built.imports ?? []) add(imported);
  };
  for (const [name, { isEntry, dynamicImports = [] }] of Object.entries(manifest)) {
    if (isEntry) for (const each of [name, ...dynamicImports]) add(each);
  }
  const sum = (paths: Iterable<string>): number => [...paths].reduce((all, path) => all + (sizes.get(path) ?? 0), 0);
  const firstBytes = sum(first);
  const allBytes = sum(sizes.keys());
  const [firstSize, allSize] = [kilobytes(firstBytes), kilobytes(allBytes)];
  const reported = `console: ${firstSize} KB of gzipped JavaScript for the first page, ${allSize} in all`;
  if (firstBytes === 0) throw new Error("no first page was built");
  if (firstBytes > FIRST_PAGE_BYTES || allBytes > ALL_BYTES) throw new Error(`${reported}; at most 250 and 400`);
  return reported;
}

function kilobytes(bytes: number): number {
  return Math.ceil(bytes / 1024);
}
