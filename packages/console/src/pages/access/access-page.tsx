/** Tokens: callers and their scopes. */
import { useQuery } from "@tanstack/react-query";
import { useRouter, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import type { TokenPage } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { Button } from "../../elements/button.tsx";
import { searchOf } from "../../listing/filter.ts";
import { Freshness } from "../../listing/freshness.tsx";
import { Empty, Loaded } from "../../listing/loaded.tsx";
import { MomentText } from "../../moment/moment-text.tsx";
import { useMissingScope } from "../../session/session.ts";
import { PageTitle } from "../../status/page-title.tsx";
import styles from "./access-page.module.css";
import { NewTokenDialog } from "./new-token-dialog.tsx";
import { OwnTokenDialog } from "./own-token-dialog.tsx";
import { RevokeDialog } from "./revoke-dialog.tsx";

type Token = TokenPage["data"][number];

const MOST = 200;

export function AccessPage() {
  const query = useQuery(asked("GET /v1/tokens", { query: { limit: MOST } }));
  const router = useRouter();
  const { make } = useSearch({ from: "/access" });
  const open = (what: "token" | "own" | null): void =>
    router.history.replace(`/access${what ? searchOf({ make: what }) : ""}`);
  const close = (): void => open(null);
  const [revoked, setRevoked] = useState<Token | null>(null);
  const unavailable = useMissingScope("write");
  const create = (
    <Button look="primary" unavailable={unavailable} onPress={() => open("token")}>
      New token
    </Button>
  );
  return (
    <>
      <PageTitle>Access</PageTitle>
      <div className={styles["head"]}>
        <h1>Access</h1>
        <Button onPress={() => open("own")}>Use it in the terminal</Button>
        {create}
      </div>
      <Loaded
        query={query}
        what="tokens"
        isEmpty={({ data }) => data.length === 0}
        empty={
          <Empty action={create} command="posthaste tokens create --name NAME --scopes read --link">
            Nobody but the administrator has a token.
          </Empty>
        }
      >
        {({ data, nextCursor, asOf, complete }) => (
          <div data-state="live">
            <ul>
              {data.map((token) => (
                <li key={token.id} className={styles["token"]}>
                  <strong>{token.name}</strong>
                  <span>may {token.scopes.join(", ")}</span>
                  <span className={styles["detail"]}>
                    made <MomentText at={token.createdAt} withDistance /> by {token.createdBy}
                    <Use token={token} />
                  </span>
                  <Button
                    aria-label={`Revoke ${token.name}`}
                    unavailable={unavailable}
                    onPress={() => setRevoked(token)}
                  >
                    Revoke
                  </Button>
                </li>
              ))}
            </ul>
            {nextCursor !== null && (
              <p className={styles["detail"]}>
                The oldest {MOST} stand here; <code>posthaste tokens list</code> has all.
              </p>
            )}
            <Freshness asOf={asOf} complete={complete} />
          </div>
        )}
      </Loaded>
      {make === "token" && unavailable === null && <NewTokenDialog onClose={close} />}
      {make === "own" && <OwnTokenDialog onClose={close} />}
      {revoked !== null && <RevokeDialog token={revoked} onClose={() => setRevoked(null)} />}
    </>
  );
}

/** When somebody came by it last, as a text and by a browser. */
function Use({ token: { linkUntil, sessionUsedAt, usedAt } }: { readonly token: Token }) {
  return (
    <>
      {usedAt !== null && (
        <>
          ; last used <MomentText at={usedAt} isShort withDistance />
        </>
      )}
      {usedAt === null && sessionUsedAt === null && linkUntil === null && "; never used"}
      {sessionUsedAt !== null && (
        <>
          ; signed in, last asked <MomentText at={sessionUsedAt} isShort withDistance />
        </>
      )}
      {linkUntil !== null && (
        <>
          ; its link was not opened yet, and can be until <MomentText at={linkUntil} isShort withDistance />
        </>
      )}
    </>
  );
}
