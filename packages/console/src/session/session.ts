/**
 * The session.
 *
 * Owns: the session in the client's cache, under `SESSION`.
 * - A session that ends while a page is open is `expired`, and the page stays; only who never was signed in sees the
 *   sign-in page.
 * - The code of a sign-in link leaves the address before it is used, and is kept nowhere.
 * SE3  Requests from before the sign-in say nothing of the session, however late they are refused.
 */
import { type QueryClient, queryOptions, useQuery } from "@tanstack/react-query";
import type { Operations, Session } from "../api/api-types.ts";
import { ApiProblem, call } from "../api/client.ts";

export type SessionState =
  | { readonly state: "open"; readonly session: Session }
  | { readonly state: "expired"; readonly name: string }
  /** `refusal`: why the sign-in link that brought somebody here did not open a session. */
  | { readonly state: "none"; readonly refusal: string | null };

const SESSION = ["session"] as const;

const LINK = /^#sign-in=(.+)$/;

/** The code of a sign-in link that was opened; it is gone from the address then. */
export function takeSignInCode(): string | null {
  const code = LINK.exec(location.hash)?.[1] ?? null;
  if (code !== null) history.replaceState(null, "", location.pathname + location.search);
  return code;
}

/** The query of the session, opened by `code` where there is one. */
export function sessionQuery(code: string | null) {
  return queryOptions({
    queryKey: SESSION,
    queryFn: async (): Promise<SessionState> => {
      try {
        const session = code === null ? await call("GET /v1/session", {}) : await open({ code });
        return { state: "open", session };
      } catch (error) {
        if (!(error instanceof ApiProblem) || error.status !== 401) throw error;
        return { state: "none", refusal: code === null ? null : error.message };
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** For components inside a session; throws where there is none. */
export function useSession(): Session {
  const { data } = useQuery(sessionQuery(null));
  if (data?.state === "open") return data.session;
  if (data?.state === "expired") return { name: data.name, tokenId: null, scopes: [], expiresAt: null };
  throw new Error("nobody is signed in");
}

/** The reason why an action that needs a scope cannot be done; null where the token has it. */
export function useMissingScope(scope: Session["scopes"][number]): string | null {
  return useSession().scopes.includes(scope) ? null : `your token has not the scope ${scope}`;
}

/** Throws ApiProblem. */
export async function signIn(client: QueryClient, key: Operations["POST /v1/session"]["body"]): Promise<void> {
  const session = await open(key);
  // SE3.
  await client.cancelQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION[0] });
  keep(client, { state: "open", session });
  await client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION[0] });
}

export async function signOut(client: QueryClient): Promise<void> {
  await call("DELETE /v1/session", {});
  keep(client, { state: "none", refusal: null });
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION[0] });
}

/** To be told of every call that failed. */
export function noteFailure(client: QueryClient, error: unknown): void {
  if (!(error instanceof ApiProblem) || error.status !== 401) return;
  const known = client.getQueryData<SessionState>(SESSION);
  if (known?.state === "open") keep(client, { state: "expired", name: known.session.name });
}

function keep(client: QueryClient, state: SessionState): void {
  client.setQueryData(SESSION, state);
}

function open(key: Operations["POST /v1/session"]["body"]): Promise<Session> {
  return call("POST /v1/session", { body: key });
}
