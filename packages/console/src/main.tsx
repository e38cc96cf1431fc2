import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/jetbrains-mono/wght.css";
import "./theme/tokens.css";
import "./theme/base.css";
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { createRoot } from "react-dom/client";
import { ApiProblem } from "./api/client.ts";
import { router } from "./routes.tsx";
import { noteFailure, sessionQuery, takeSignInCode } from "./session/session.ts";
import { statusQuery } from "./status/status.ts";
import { showTheme } from "./theme/theme-choice.ts";

/** A read that failed for want of an answer is tried again; a refusal stays one. */
const MOST_RETRIES = 1;

showTheme();
const client: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: (error) => noteFailure(client, error) }),
  mutationCache: new MutationCache({ onError: (error) => noteFailure(client, error) }),
  defaultOptions: {
    queries: {
      staleTime: 5000,
      retry: (failures, error) =>
        failures < MOST_RETRIES && error instanceof ApiProblem && (error.status === null || error.status >= 500),
      retryDelay: 300,
    },
  },
});
// Each page waits for its own script: what all of them ask for is under way by then.
void client.prefetchQuery(sessionQuery(takeSignInCode())).then(() => {
  const session = client.getQueryData(sessionQuery(null).queryKey);
  return session?.state === "open" ? client.prefetchQuery(statusQuery) : undefined;
});
const place = document.getElementById("root");
if (place === null) throw new Error("index.html has no place for the pages");
createRoot(place).render(
  <QueryClientProvider client={client}>
    <RouterProvider router={router} />
  </QueryClientProvider>,
);
