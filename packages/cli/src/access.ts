/**
 * Where control is and the token that it takes: from an option, the environment, or the local command's data folder.
 */
import { join } from "node:path";
import { CliError, EXIT } from "./exit-code.ts";
import { type Profile, profileOf, readProfiles } from "./profiles.ts";
import type { Terminal } from "./terminal.ts";

const DEFAULT_PORT = "8090";

export interface AccessOptions {
  readonly profile?: string | undefined;
  readonly url?: string | undefined;
  readonly tokenFile?: string | undefined;
}

export interface Access {
  /** Without a slash at the end. */
  readonly url: string;
  readonly token: string | null;
  /** The control of the data folder, where its token is not for `url`; null where it is, or none runs. */
  readonly elsewhere: string | null;
}

/**
 * A profile counts where it is named, and the current one where nothing else names a control or a token: neither an
 * option nor the environment. Its token goes to its own control alone. The token never comes from an argument, where
 * `ps` shows it. The data folder's token is for the control that the folder belongs to: it is not sent to another that
 * `--url` names.
 */
export async function findAccess(options: AccessOptions, terminal: Terminal, defaultDataDir: string): Promise<Access> {
  const { env } = terminal;
  const profile = await findProfile(options, terminal);
  if (profile !== undefined) return { url: profile.url, token: profile.token, elsewhere: null };
  const dataDir = env.POSTHASTE_DATA_DIR || defaultDataDir;
  const local = await localControl(terminal, dataDir);
  const localUrl = local ?? `http://127.0.0.1:${env.POSTHASTE_CONTROL_PORT || DEFAULT_PORT}`;
  const url = options.url === undefined ? localUrl : parseUrl(options.url);
  if (options.tokenFile !== undefined)
    return { url, token: await readTokenFile(terminal, options.tokenFile), elsewhere: null };
  if (env.POSTHASTE_ADMIN_TOKEN) return { url, token: env.POSTHASTE_ADMIN_TOKEN, elsewhere: null };
  const kept = url === localUrl ? await readOptional(terminal, join(dataDir, "admin-token")) : undefined;
  return { url, token: kept?.trim() || null, elsewhere: url === localUrl ? null : (local ?? null) };
}

async function findProfile(options: AccessOptions, terminal: Terminal): Promise<Profile | undefined> {
  const { env } = terminal;
  const named = options.profile ?? (env.POSTHASTE_PROFILE || undefined);
  const others = [options.url, options.tokenFile];
  if (named !== undefined) {
    if (options.profile !== undefined && others.some((each) => each !== undefined))
      throw new CliError(EXIT.usage, "--profile has a URL and a token of its own: leave out --url and --token-file");
    if (others.every((each) => each === undefined)) return profileOf(await readProfiles(terminal), named);
    return undefined;
  }
  const isNamedElsewhere = [...others, env.POSTHASTE_ADMIN_TOKEN, env.POSTHASTE_DATA_DIR].some(Boolean);
  const all = isNamedElsewhere ? undefined : await readProfiles(terminal);
  return all?.current == null ? undefined : profileOf(all, all.current);
}

function parseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new CliError(EXIT.usage, `--url: expected control's URL, such as http://127.0.0.1:${DEFAULT_PORT}`);
  }
  // It could not be used, since fetch refuses it, and it is not repeated, since a password is a secret.
  if (url.username !== "" || url.password !== "") {
    throw new CliError(EXIT.usage, "--url: a URL may not hold a user name or password");
  }
  return url.href.replace(/\/+$/, "");
}

/** Control's URL in stack.json; undefined when nothing runs from the folder. */
async function localControl(terminal: Terminal, dataDir: string): Promise<string | undefined> {
  const text = await readOptional(terminal, join(dataDir, "stack.json"));
  if (text === undefined) return undefined;
  try {
    const stack: unknown = JSON.parse(text);
    if (typeof stack !== "object" || stack === null || !("control" in stack)) return undefined;
    return typeof stack.control === "string" ? parseUrl(stack.control) : undefined;
  } catch {
    return undefined;
  }
}

async function readTokenFile(terminal: Terminal, path: string): Promise<string> {
  const token = (await readInput(terminal, path, "--token-file")).trim();
  if (token === "") throw new CliError(EXIT.usage, `--token-file: ${path} is empty`);
  return token;
}

function readOptional(terminal: Terminal, path: string): Promise<string | undefined> {
  return terminal.readFile(path).catch(() => undefined);
}

/** A file that an option names. Throws CliError naming both. */
export async function readInput(terminal: Terminal, path: string, option: string): Promise<string> {
  try {
    return await terminal.readFile(path);
  } catch (cause) {
    const reason = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
    throw new CliError(EXIT.usage, `${option}: ${path} cannot be read (${reason})`, { cause });
  }
}
