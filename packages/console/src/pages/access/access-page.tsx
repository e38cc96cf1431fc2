/** Tokens: callers and their scopes. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import type { TokenPage } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import { Copied } from "../../elements/copied.tsx";
import { Dialog } from "../../elements/dialog.tsx";
import { Refusal } from "../../elements/refusal.tsx";
import { searchOf } from "../../listing/filter.ts";
import { Freshness } from "../../listing/freshness.tsx";
import { Empty, Loaded } from "../../listing/loaded.tsx";
import { MomentText } from "../../moment/moment-text.tsx";
import { useMissingScope } from "../../session/session.ts";
import { PageTitle } from "../../status/page-title.tsx";
import styles from "./access-page.module.css";
import { NewTokenDialog } from "./new-token-dialog.tsx";

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

/** A token for one's own terminal, shown once (NT1 of new-token-dialog.tsx). */
function OwnTokenDialog({ onClose }: { readonly onClose: () => void }) {
  const making = useMutation({ mutationFn: () => call("POST /v1/session/token", {}), gcTime: 0 });
  return (
    <Dialog
      title="Use it in the terminal"
      isOpen
      onClose={onClose}
      actions={
        making.data === undefined ? (
          <Button look="primary" isPending={making.isPending} onPress={() => making.mutate()}>
            Make the token
          </Button>
        ) : (
          <Button onPress={onClose}>Done</Button>
        )
      }
    >
      {making.data === undefined ? (
        <p>A token that may do what you may, in place of the last one that you made here.</p>
      ) : (
        <>
          <p>It is not shown again. In the terminal:</p>
          <Copied what="line with the token" text={`export POSTHASTE_ADMIN_TOKEN=${making.data.token}`} />
        </>
      )}
      <Refusal error={making.error} />
    </Dialog>
  );
}

interface RevokeDialogProps {
  readonly token: TokenPage["data"][number];
  readonly onClose: () => void;
}

function RevokeDialog({ token: { id, name }, onClose }: RevokeDialogProps) {
  const client = useQueryClient();
  const revoking = useMutation({
    mutationFn: () => call("DELETE /v1/tokens/{id}", { params: { id } }),
    onSuccess: async () => {
      onClose();
      await client.invalidateQueries({ queryKey: ["GET /v1/tokens"] });
    },
  });
  return (
    <Dialog
      title={`Revoke ${name}?`}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Keep it</Button>
          <Button look="primary" isPending={revoking.isPending} onPress={() => revoking.mutate()}>
            Revoke
          </Button>
        </>
      }
    >
      <p>Whoever uses it is refused from then on, and every session that acts as it ends. It cannot be undone.</p>
      <Refusal error={revoking.error} />
    </Dialog>
  );
}
