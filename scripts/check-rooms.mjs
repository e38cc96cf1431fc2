// npm run verify: the folders of a package's or service's src are rooms whose arrows point one way. An arrow is an
// import, types too, from a file of one room to a file of another. Three things fail the check, which names them: a
// circle of rooms by its imports, an import from a lower wing to a higher one, and control above its bounds.
// node scripts/check-rooms.mjs [FOLDER]   The last line says how many sources were looked at; the exit code is 1 for a
// fault.
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { root } from "./bootstrap.mjs";

const SOURCE = /^(?:packages|services)\/[^/]+\/src\//;
/** The wings of control, the lowest first. A wing imports none of the wings behind it here, and no loose file. */
const CONTROL = "services/control/src/";
const WINGS = ["configuration", "operations", "health", "delivery-log"];
/** Control's bounds: loose files in its src, rooms, lines, and arrows between rooms, loose files among them. */
const BOUNDS = { files: 6, rooms: 30, lines: 16_000, arrows: 60 };
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

/** The imports of control that point to a higher wing, or from a wing to the files that open the wings. */
function wrongWays(files) {
  const floorOf = (path) => {
    const [wing, ...rest] = path.slice(CONTROL.length).split("/");
    const place = WINGS.indexOf(wing);
    return path.startsWith(CONTROL) && rest.length > 0 && place >= 0 ? place : undefined;
  };
  return files.flatMap(([path, text]) => {
    const from = floorOf(path);
    if (from === undefined) return [];
    return [...text.matchAll(RELATIVE_IMPORT)].flatMap(([, target]) => {
      const file = normalize(join(dirname(path), target));
      const to = floorOf(file) ?? WINGS.length;
      return to > from ? [`${path} -> ${file}`] : [];
    });
  });
}

/** The bounds that control exceeds, in words. */
function exceeded(files) {
  const ofControl = files.filter(([path]) => path.startsWith(CONTROL));
  const arrows = ofControl.flatMap(([path, text]) =>
    [...text.matchAll(RELATIVE_IMPORT)].flatMap(([, target]) => {
      const [from, to] = [path, normalize(join(dirname(path), target))].map((each) => roomOf(each) ?? each);
      return from === to ? [] : [`${from} -> ${to}`];
    }),
  );
  const seen = {
    files: ofControl.filter(([path]) => !path.slice(CONTROL.length).includes("/")).length,
    rooms: new Set(ofControl.map(([path]) => roomOf(path)).filter((room) => room !== undefined)).size,
    arrows: new Set(arrows).size,
    lines: ofControl.reduce((sum, [, text]) => sum + text.split("\n").length - 1, 0),
  };
  return Object.entries(BOUNDS).flatMap(([name, most]) =>
    seen[name] > most
      ? [`${CONTROL} has ${seen[name]} ${name === "files" ? "loose files" : name}, at most ${most}`]
      : [],
  );
}

const folder = process.argv[2] ?? root;
const paths = globSync("{packages,services}/*/src/**/*.{ts,tsx}", { cwd: folder }).filter(
  (path) => !path.endsWith(".test.ts"),
);
const files = paths.map((path) => [path, readFileSync(join(folder, path), "utf8")]);
const circle = circleOf(arrowsOf(files));
if (circle !== undefined) console.error(`these imports make a circle of rooms:\n  ${circle.join("\n  ")}`);
const faults = [...wrongWays(files).map((way) => `this import points to a higher wing: ${way}`), ...exceeded(files)];
for (const fault of faults) console.error(fault);
console.log(`${paths.length} sources looked at`);
process.exit(circle === undefined && faults.length === 0 && paths.length > 0 ? 0 : 1);
