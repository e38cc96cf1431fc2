/**
 * The sources of an earlier release, unpacked beside this one's. `POSTHASTE_EARLIER` names a commit or a tag; without
 * it the release is the commit before the last change of a schema. It runs with the dependencies installed here.
 */
import { execFileSync } from "node:child_process";
import { globSync } from "node:fs";
import { mkdir, readdir, readFile, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SOURCES } from "@posthaste/local-stack/services";

const MOST_BYTES = 512 * 1024 * 1024;

interface Manifest {
  readonly name: string;
  readonly workspaces: readonly string[];
}

export type EarlierRelease =
  | { readonly commit: string; readonly subject: string }
  /** The reason why none is known. */
  | { readonly missing: string };

export function findEarlierRelease(): EarlierRelease {
  try {
    const named = process.env["POSTHASTE_EARLIER"] || `${git("log", "-1", "--format=%H", "--", "schemas").trim()}^`;
    const [commit = "", ...subject] = git("log", "-1", "--format=%h %s", named).trim().split(" ");
    return { commit, subject: subject.join(" ") };
  } catch {
    return { missing: "no history of git is here, or it ends before the last change of a schema; POSTHASTE_EARLIER" };
  }
}

/** Unpacks the release into an empty folder. */
export async function unpackRelease(commit: string, folder: string): Promise<void> {
  const archive = execFileSync("git", ["archive", commit], { cwd: SOURCES, maxBuffer: MOST_BYTES });
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  const modules = join(folder, "node_modules");
  const { workspaces } = await readManifest(folder);
  const scopes = new Set<string>();
  const manifests = workspaces.flatMap((each) => globSync(`${each}/package.json`, { cwd: folder }));
  for (const workspace of manifests.map((path) => join(folder, dirname(path)))) {
    const { name } = await readManifest(workspace);
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(workspace, join(modules, name));
    scopes.add(name.split("/")[0] ?? name);
  }
  const installed = join(SOURCES, "node_modules");
  for (const name of await readdir(installed)) {
    if (!name.startsWith(".") && !scopes.has(name)) await symlink(join(installed, name), join(modules, name));
  }
  // The pages are built once, for this release; no test here looks at them.
  await symlink(join(SOURCES, "packages/console/dist"), join(folder, "packages/console/dist"));
}

async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Manifest;
}

function git(...words: readonly string[]): string {
  return execFileSync("git", [...words], { cwd: SOURCES, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}
