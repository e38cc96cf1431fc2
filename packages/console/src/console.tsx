/** The console in its place on the page. */
import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/jetbrains-mono/wght.css";
import "./theme/tokens.css";
import "./theme/base.css";
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { createRoot } from "react-dom/client";
import { ApiProblem } from "./api/client.ts";
import { type EarlyAnswers, keepEarly } from "./api/early.ts";
import { beginLive } from "./live/live.ts";
import { tellMoment } from "./moment/zone.ts";
import { createConsoleRouter } from "./routes.tsx";
import { noteFailure, sessionQuery, takeSignInCode } from "./session/session.ts";
import { statusQuery } from "./status/status.ts";
import { showTheme } from "./theme/theme-choice.ts";

/** A read that failed for want of an answer is tried again; a refusal stays one. */
const MOST_RETRIES = 1;

/** `early`: the requests made already. Returns a function that takes the console off its place. */
export function showConsole(early: EarlyAnswers): () => void {
  keepEarly(early);
  beginLive();
  tellMoment();
  showTheme();
  const client = createClient();
  // Before anything is drawn, and at once: without a session both are refused, and the sign-in page asks for a token.
  const code = takeSignInCode();
  const opening = client.prefetchQuery(sessionQuery(code));
  void (code === null ? client.prefetchQuery(statusQuery) : opening.then(() => client.prefetchQuery(statusQuery)));
  const place = document.getElementById("root");
  if (place === null) throw new Error("index.html has no place for the pages");
  const router = createConsoleRouter();
  const root = createRoot(place);
  root.render(
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
    </QueryClientProvider>,
  );
  return () => {
    root.unmount();
    client.clear();
    router.history.destroy();
  };
}

function createClient(): QueryClient {
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError: (error) => noteFailure(client, error) }),
    mutationCache: new MutationCache({ onError: (error) => noteFailure(client, error) }),
    defaultOptions: {
      // Control may be this machine's own, which a browser without a network reaches all the same.
      mutations: { networkMode: "always" },
      queries: {
        networkMode: "always",
        staleTime: 5000,
        retry: (failures, error) =>
          failures < MOST_RETRIES && error instanceof ApiProblem && (error.status === null || error.status >= 500),
        retryDelay: 300,
      },
    },
  });
  return client;
}
