/**
 * Profiles: controls with their tokens, kept under a name for `--profile`.
 *
 * Owns: `posthaste/profiles.json` in the user's configuration folder (XDG), which nobody but the user may read.
 */
import { join } from "node:path";
import { isEntry } from "./entries.ts";
import { CliError, EXIT } from "./exit-code.ts";
import type { Terminal } from "./terminal.ts";

export interface Profile {
  readonly url: string;
  readonly token: string;
}

export interface Profiles {
  /** The profile that counts where nothing else names a control or a token; null where there is none. */
  readonly current: string | null;
  readonly profiles: Readonly<Record<string, Profile>>;
}

const NONE: Profiles = { current: null, profiles: {} };
const NAME = /^[\w.-]{1,64}$/;

/** None where there is no such file. Throws CliError for a file that does not hold profiles. */
export async function readProfiles(terminal: Pick<Terminal, "env" | "readFile">): Promise<Profiles> {
  const path = pathOf(terminal);
  const text = path === undefined ? undefined : await terminal.readFile(path).catch(() => undefined);
  if (path === undefined || text === undefined) return NONE;
  const read = parse(text);
  if (read === undefined)
    throw new CliError(EXIT.usage, `${path} holds no profiles`, { hint: "remove it, and run posthaste login" });
  return read;
}

/** Throws CliError where there is no folder for it, and where it cannot be written. */
export async function writeProfiles(terminal: Terminal, profiles: Profiles): Promise<void> {
  const path = pathOf(terminal);
  if (path === undefined)
    throw new CliError(EXIT.usage, "there is no folder for profiles: set HOME or XDG_CONFIG_HOME");
  await terminal.writePrivate(path, `${JSON.stringify(profiles, null, 2)}\n`).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CliError(EXIT.failed, `${path} cannot be written: ${reason}`, { cause });
  });
}

/** Throws CliError where there is none of the name. */
export function profileOf({ profiles }: Profiles, name: string): Profile {
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile !== undefined) return profile;
  const names = Object.keys(profiles);
  throw new CliError(EXIT.usage, `there is no profile ${name}`, {
    hint: names.length === 0 ? "posthaste login makes one" : `there are ${names.join(", ")}`,
  });
}

/** Throws CliError for a text that is no name of a profile. */
export function assertProfileName(name: string): void {
  if (!NAME.test(name) || name === "__proto__")
    throw new CliError(EXIT.usage, "the name of a profile: expected letters, digits, - _ and . alone");
}

function pathOf({ env }: Pick<Terminal, "env">): string | undefined {
  const folder = env.XDG_CONFIG_HOME || (env.HOME ? join(env.HOME, ".config") : undefined);
  return folder === undefined ? undefined : join(folder, "posthaste", "profiles.json");
}

function parse(text: string): Profiles | undefined {
  try {
    const read: unknown = JSON.parse(text);
    if (!isEntry(read) || !isEntry(read.profiles)) return undefined;
    const entries = Object.entries(read.profiles).flatMap(([name, value]) => {
      if (!isEntry(value) || typeof value.url !== "string" || typeof value.token !== "string") return [];
      return [[name, { url: value.url, token: value.token }] as const];
    });
    return { current: typeof read.current === "string" ? read.current : null, profiles: Object.fromEntries(entries) };
  } catch {
    return undefined;
  }
}
