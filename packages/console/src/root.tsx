import { useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { I18nProvider, RouterProvider } from "react-aria-components";
import { Frame } from "./frame/frame.tsx";
import { openRow } from "./frame/opened-row.ts";
import { Loaded } from "./listing/loaded.tsx";
import styles from "./pages/sign-in/sign-in-page.module.css";
import { sessionQuery } from "./session/session.ts";
import { SignInForm } from "./session/sign-in-form.tsx";

declare module "react-aria-components" {
  interface RouterConfig {
    /** `isRow`: it is of a list. */
    readonly routerOptions: { readonly isRow: boolean };
  }
}

/** The sign-in page without a session, the frame with its page with one. */
export function Root() {
  const router = useRouter();
  const query = useQuery(sessionQuery(null));
  return (
    <I18nProvider locale="en-GB">
      <RouterProvider
        navigate={(path, options) => (options?.isRow ? openRow(router, path) : router.history.push(path))}
      >
        <Loaded query={query} what="session" rows={0}>
          {(session) =>
            session.state === "none" ? <SignInPage refusal={session.refusal} /> : <Frame session={session} />
          }
        </Loaded>
      </RouterProvider>
    </I18nProvider>
  );
}

/** `refusal`: why the link that led here opened nothing. */
function SignInPage({ refusal }: { readonly refusal: string | null }) {
  return (
    <main className={styles["page"]}>
      <title>Sign in · Posthaste</title>
      <div className={styles["card"]}>
        <h1>Sign in to Posthaste</h1>
        <p>
          Posthaste delivers the events of your sources to webhooks. This console shows each delivery, and mends those
          that fail.
        </p>
        {refusal !== null && (
          <p role="alert" className={styles["refusal"]}>
            The sign-in link opened nothing: {refusal}.
          </p>
        )}
        <SignInForm />
      </div>
    </main>
  );
}
