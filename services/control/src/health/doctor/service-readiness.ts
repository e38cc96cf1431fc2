/** The readiness of the other services: asks each for its `/readyz`. */
import { type Readiness, VERSION_HEADER } from "@posthaste/runtime/admin-server";
import { readStart } from "@posthaste/runtime/answer-start";
import { z } from "zod";

/** A service that does not answer within this many ms is not ready. */
const TIMEOUT_MS = 2000;
/** The most characters read of an answer; a service has some checks, of a sentence each. */
const MAX_ANSWER = 64 * 1024;

export interface ServiceAddress {
  readonly name: string;
  readonly url: string;
}

const readyAnswer = z.object({ checks: z.record(z.string(), z.union([z.literal(true), z.string()])) });

/** Asks every service at once; the answer names each service with its state. */
export async function askServices(services: readonly ServiceAddress[]): Promise<Readiness> {
  const states = await Promise.all(services.map(async ({ name, url }) => [name, await askService(url)] as const));
  return Object.fromEntries(states);
}

async function askService(url: string): Promise<true | string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: "error" });
    const text = await readStart(response, MAX_ANSWER);
    return response.status === 200 ? true : describe(response.status, text);
  } catch {
    return "does not answer";
  }
}

/** The release of each service that says one, by the service's name. */
export async function askVersions(services: readonly ServiceAddress[]): Promise<ReadonlyMap<string, string>> {
  const versions = await Promise.all(services.map(async ({ name, url }) => [name, await askVersion(url)] as const));
  return new Map(versions.filter((each): each is [string, string] => each[1] !== null));
}

async function askVersion(url: string): Promise<string | null> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: "error" });
    await response.body?.cancel();
    return response.headers.get(VERSION_HEADER);
  } catch {
    return null;
  }
}

function describe(status: number, text: string): string {
  const answer = readyAnswer.safeParse(parse(text));
  if (!answer.success) return `answers ${status}`;
  const missing = Object.entries(answer.data.checks).flatMap(([check, state]) =>
    state === true ? [] : [`${check}: ${state}`],
  );
  return missing.length === 0 ? `answers ${status}` : missing.join("; ");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The message of the first of control's tables that is not well; true when all are. */
export function tablesState(states: readonly (true | string)[]): true | string {
  return states.find((state) => state !== true) ?? true;
}
