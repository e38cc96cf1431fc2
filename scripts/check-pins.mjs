// Refuses an action, a base image or an image of compose that is named by something that its owner can move: a tag, a
// branch. node scripts/check-pins.mjs [FOLDER]   The last line says how many were looked at; the exit code is 1 when
// one is not pinned.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./bootstrap.mjs";

/** Images whose digest is not known here. Each is named by a tag of one release. */
const BY_TAG = [
  "apicurio/apicurio-registry:3.0.9",
  "grafana/grafana:12.1.1",
  "maven:3.9-eclipse-temurin-17",
  "prom/alertmanager:v0.28.1",
];

const folder = process.argv[2] ?? root;

/** Matches of a pattern's only group, each with its place in the file. */
function namedIn(path, pattern) {
  const lines = readFileSync(join(folder, path), "utf8").split("\n");
  return lines.flatMap((line, index) => {
    const name = pattern.exec(line)?.[1];
    return name === undefined ? [] : [{ name, place: `${path}:${index + 1}` }];
  });
}

/** Of the repository itself, or by the 40 digits of a commit. */
function isPinnedAction(name) {
  return name.startsWith("./") || (name.startsWith("docker://") ? isPinnedImage(name) : /@[0-9a-f]{40}$/.test(name));
}

function isPinnedImage(name) {
  return /@sha256:[0-9a-f]{64}$/.test(name) || BY_TAG.includes(name);
}

/** The files of a folder below the looked-at one; none where it is not there. */
function filesIn(path, pattern) {
  if (!existsSync(join(folder, path))) return [];
  return readdirSync(join(folder, path))
    .filter((file) => pattern.test(file))
    .map((file) => `${path}/${file}`);
}

/** The base images of a Dockerfile, without its own stages. */
function baseImages(path) {
  const stages = namedIn(path, /^FROM .* AS (\S+)/i).map(({ name }) => name);
  return namedIn(path, /^FROM\s+(?:--\S+\s+)*(\S+)/i).filter(({ name }) => !stages.includes(name));
}

const actions = filesIn(".github/workflows", /\.ya?ml$/).flatMap((path) =>
  namedIn(path, /^\s*(?:-\s+)?uses:\s*["']?([^\s"'#]+)/),
);
const images = [
  ...[...filesIn("deploy", /^Dockerfile$/), ...filesIn("deploy/kafka", /^Dockerfile$/)].flatMap(baseImages),
  ...filesIn("deploy", /^compose.*\.yaml$/).flatMap((path) => namedIn(path, /^\s*image:\s*["']?([^\s"'#]+)/)),
];
const loose = [
  ...actions
    .filter(({ name }) => !isPinnedAction(name))
    .map(({ name, place }) => `${place}: ${name} is not at a commit`),
  ...images.filter(({ name }) => !isPinnedImage(name)).map(({ name, place }) => `${place}: ${name} is not at a digest`),
];
for (const line of loose) console.log(line);
console.log(`${actions.length} actions, ${images.length} images, ${loose.length} not pinned`);
process.exit(loose.length === 0 ? 0 : 1);
