// npm run verify: the folders of a package's or service's src are rooms whose arrows point one way. An arrow is an
// import, types too, from a file of one room to a file of another; a circle of rooms fails the check, and names the
// imports that make it. node scripts/check-rooms.mjs [FOLDER]   The last line says how many sources were looked at; the
// exit code is 1 for a circle.
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { root } from "./bootstrap.mjs";

const SOURCE = /^(?:packages|services)\/[^/]+\/src\//;
const RELATIVE_IMPORT = /(?:from|import)\s*\(?\s*"(\.{1,2}\/[^"]+)"/g;

/** The room of a file: its folder below `src`; undefined for a file that lies in `src` itself, which is of no room. */
function roomOf(path) {
  const src = SOURCE.exec(path)?.[0];
  if (src === undefined) return undefined;
  const folder = path.slice(src.length).split("/").slice(0, -1).join("/");
  return folder === "" ? undefined : src + folder;
}

/**
 * Arrows between rooms, by the room that they start from: the rooms they end at, each with one import as `file ->
 * file`.
 */
function arrowsOf(files) {
  const arrows = new Map();
  for (const [path, text] of files) {
    const room = roomOf(path);
    if (room === undefined) continue;
    for (const [, target] of text.matchAll(RELATIVE_IMPORT)) {
      const file = normalize(join(dirname(path), target));
      const other = roomOf(file);
      if (other === undefined || other === room) continue;
      const from = arrows.get(room) ?? new Map();
      arrows.set(room, from.set(other, `${path} -> ${file}`));
    }
  }
  return arrows;
}

/** A circle of rooms as the imports that make it; undefined when there is none. */
function circleOf(arrows) {
  const done = new Set();
  const way = [];
  const visit = (room) => {
    const since = way.findIndex((each) => each.room === room);
    if (since >= 0) return way.slice(since).map(({ arrow }) => arrow);
    if (done.has(room)) return undefined;
    for (const [other, arrow] of arrows.get(room) ?? []) {
      way.push({ room, arrow });
      const circle = visit(other);
      if (circle !== undefined) return circle;
      way.pop();
    }
    done.add(room);
    return undefined;
  };
  for (const room of arrows.keys()) {
    const circle = visit(room);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

const folder = process.argv[2] ?? root;
const paths = globSync("{packages,services}/*/src/**/*.{ts,tsx}", { cwd: folder }).filter(
  (path) => !path.endsWith(".test.ts"),
);
const circle = circleOf(arrowsOf(paths.map((path) => [path, readFileSync(join(folder, path), "utf8")])));
if (circle !== undefined) console.error(`these imports make a circle of rooms:\n  ${circle.join("\n  ")}`);
console.log(`${paths.length} sources looked at`);
process.exit(circle === undefined && paths.length > 0 ? 0 : 1);
