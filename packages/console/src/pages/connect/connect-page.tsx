/** A webhook is connected on one page; where there are several kinds, they are chosen from first. */
import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { Webhook } from "lucide-react";
import { Link } from "react-aria-components";
import type { Catalog } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { searchOf } from "../../listing/filter.ts";
import { Empty, Loaded } from "../../listing/loaded.tsx";
import { allSources } from "../../names/names.ts";
import { useMissingScope } from "../../session/session.ts";
import { PageTitle } from "../../status/page-title.tsx";
import { areOff } from "../test-receivers/are-off.ts";
import styles from "./connect.module.css";
import { ConnectForm } from "./connect-form.tsx";

export function ConnectPage() {
  const { kind } = useSearch({ from: "/connect" });
  const query = useQuery(asked("GET /v1/catalog", {}));
  const { isPending } = useQuery(allSources);
  const receivers = useTestReceivers();
  const isChoice = kind === undefined && (query.data?.length ?? 1) > 1;
  return (
    <>
      <PageTitle>Connect</PageTitle>
      <h1>{isChoice ? "What do you connect?" : "Connect a webhook"}</h1>
      <Loaded
        query={query}
        what="catalog"
        rows={2}
        isAwaited={!isChoice && (isPending || receivers.isAwaited)}
        isEmpty={(catalog) => catalog.length === 0}
        empty={<Empty action={<a href="/overview">Overview</a>}>Control has nothing to connect.</Empty>}
      >
        {(catalog) => (isChoice ? <Kinds catalog={catalog} /> : <ConnectForm areReceiversOff={receivers.areOff} />)}
      </Loaded>
    </>
  );
}

function Kinds({ catalog }: { readonly catalog: Catalog }) {
  return (
    <ul data-state="live" className={styles["kinds"]}>
      {catalog.map(({ name, description }, at) => (
        <li key={name}>
          <Link href={`/connect${searchOf({ kind: name })}`} autoFocus={at === 0} className={styles["kind"] ?? ""}>
            <Webhook size={24} aria-hidden />
            <span>
              <strong>{name}</strong>
              <span className={styles["detail"]}>{description}</span>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** Whether control has test receivers, for tokens that may make one. */
function useTestReceivers(): { readonly isAwaited: boolean; readonly areOff: boolean } {
  const isAsked = useMissingScope("write") === null;
  const { isPending, error } = useQuery({ ...asked("GET /v1/test-receivers", {}), enabled: isAsked, retry: false });
  return { isAwaited: isAsked && isPending, areOff: areOff(error) };
}
