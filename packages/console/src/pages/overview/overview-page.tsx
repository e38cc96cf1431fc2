/** Is anything wrong, where, since when, and is it tried again? */
import { useQuery } from "@tanstack/react-query";
import type { Status } from "../../api/api-types.ts";
import { Freshness } from "../../listing/freshness.tsx";
import { Empty, Loaded } from "../../listing/loaded.tsx";
import { useLive, usePausable } from "../../live/live.ts";
import { useThrottled } from "../../live/throttled.ts";
import { countOf, rateOf } from "../../moment/numbers.ts";
import { ConnectLink } from "../../session/connect-link.tsx";
import { PageTitle } from "../../status/page-title.tsx";
import { statusQuery } from "../../status/status.ts";
import { Mark } from "../../verdict/mark.tsx";
import { AnsweringAgain } from "./answering-again.tsx";
import { NeedsAttention } from "./needs-attention.tsx";
import styles from "./overview-page.module.css";
import { Recently } from "./recently.tsx";
import { RunningReplays } from "./running-replays.tsx";

/** Rates go on though no state changes. */
const AGAIN_MS = 5000;
const LEAST_BETWEEN_MS = 1000;

export function OverviewPage() {
  const query = useQuery({ ...statusQuery, refetchInterval: usePausable(AGAIN_MS) });
  const look = useThrottled(() => query.refetch(), LEAST_BETWEEN_MS);
  // At the tab's begin it was read a moment ago, and is within five seconds.
  const onGap = (isBegin: boolean): void => {
    if (!isBegin) look();
  };
  useLive({ topics: ["health", "replays"], filter: {}, onRows: look, onGap });
  return (
    <>
      <PageTitle>Overview</PageTitle>
      <div className={styles["title"]}>
        <h1>Overview</h1>
        {query.data !== undefined && !isNothingConnected(query.data) && <ConnectLink />}
      </div>
      <Loaded query={query} what="status" isEmpty={isNothingConnected} empty={<NothingConnected />}>
        {(status) => <Reported status={status} />}
      </Loaded>
    </>
  );
}

function Reported({ status }: { readonly status: Status }) {
  return (
    <div data-state="live" className={styles["overview"]}>
      <Figures status={status} />
      <Services status={status} />
      <NeedsAttention status={status} />
      <RunningReplays replays={status.replays} />
      <AnsweringAgain status={status} />
      <Recently />
      <Freshness asOf={status.asOf} complete={status.complete && status.readModel.reading === null} />
    </div>
  );
}

function Figures({ status }: { readonly status: Status }) {
  const { destinations, needing, receivedPerSecond, deliveredPerSecond, p99Ms, waiting } = status;
  const { open, failing, healthy, off } = destinations;
  const again = open + failing - needing;
  return (
    <div className={styles["figures"]}>
      <p className={styles["states"]}>
        <Mark tone={open > 0 ? "bad" : needing > 0 ? "waiting" : "good"}>
          {needing === 0 ? "nothing needs you" : `${countOf(needing)} need${needing === 1 ? "s" : ""} you`}
        </Mark>
        {again > 0 && (
          <a href="/destinations?state=failing">
            <Mark tone="good">{`${countOf(again)} deliver${again === 1 ? "s" : ""} again`}</Mark>
          </a>
        )}
        <a href="/destinations?state=healthy">
          <Mark tone="good">{`${countOf(healthy)} healthy`}</Mark>
        </a>
        {off > 0 && (
          <a href="/destinations?state=off">
            <Mark tone="off">{`${countOf(off)} off`}</Mark>
          </a>
        )}
      </p>
      <dl className={styles["rates"]}>
        <Figure name="received" value={rateOf(receivedPerSecond)} unit="/s" />
        <Figure name="delivered" value={rateOf(deliveredPerSecond)} unit="/s" />
        <Figure name="p99" value={rateOf(p99Ms)} unit=" ms" />
        <Figure name="waiting" value={countOf(waiting.total)} unit="" />
      </dl>
    </div>
  );
}

function Figure({ name, value, unit }: { readonly name: string; readonly value: string; readonly unit: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value}
        <span className={styles["unit"]}>{unit}</span>
      </dd>
    </div>
  );
}

/** The missing parts of Posthaste itself. */
function Services({ status: { services } }: { readonly status: Status }) {
  const missing = services.filter(({ ready }) => !ready);
  if (missing.length === 0) return null;
  return (
    <ul className={styles["services"]} aria-label="Services that are not ready">
      {missing.map(({ name, missing: lacks }) => (
        <li key={name}>
          <Mark tone="bad">{`${name} is not ready`}</Mark> {lacks}
        </li>
      ))}
    </ul>
  );
}

function isNothingConnected({ destinations: { open, failing, healthy, off } }: Status): boolean {
  return open + failing + healthy + off === 0;
}

function NothingConnected() {
  return (
    <Empty action={<ConnectLink look="primary" autoFocus />} command="posthaste destinations create --help">
      Nothing is connected yet. Connect a webhook, and see the first event arrive.
    </Empty>
  );
}
