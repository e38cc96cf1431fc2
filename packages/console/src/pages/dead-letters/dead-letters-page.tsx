/** What was given up, by destination, reason and error, the largest group first, with what helps. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { GridList, GridListItem } from "react-aria-components";
import type { DeadLetterGroups } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { ActionLink } from "../../elements/action-link.tsx";
import { Button } from "../../elements/button.tsx";
import type { LetterFilterKey } from "../../letters/letter-filter.ts";
import { reviewOf } from "../../letters/replay-filter.ts";
import { type Filter, searchOf } from "../../listing/filter.ts";
import { Freshness } from "../../listing/freshness.tsx";
import { Empty, Loaded } from "../../listing/loaded.tsx";
import { MomentText } from "../../moment/moment-text.tsx";
import { countOf } from "../../moment/numbers.ts";
import { useNames } from "../../names/names.ts";
import { PageTitle } from "../../status/page-title.tsx";
import { Mark } from "../../verdict/mark.tsx";
import styles from "./dead-letters-page.module.css";
import { HourBars } from "./hour-bars.tsx";

type Group = DeadLetterGroups["data"][number];

/** How often the groups are counted anew. */
const AGAIN_MS = 15_000;
/** Groups on the page at first, and those that each "more" adds: a thousand failing destinations have thousands. */
const STEP = 50;

export function DeadLettersPage() {
  const query = useQuery({ ...asked("GET /v1/dead-letters/groups", {}), refetchInterval: AGAIN_MS });
  const nameOf = useNames();
  const [most, setMost] = useState(STEP);
  return (
    <>
      <PageTitle>Dead letters</PageTitle>
      <h1>Dead letters</h1>
      <Loaded
        query={query}
        what="dead letters"
        isNamed
        isEmpty={({ data }) => data.length === 0}
        empty={<Empty command="posthaste dead-letters list">Nothing was given up: no delivery needs you.</Empty>}
      >
        {({ data, asOf, complete }) => (
          <div data-state="live">
            <Freshness asOf={asOf} complete={complete} />
            <GridList aria-label="dead letters">
              {data.slice(0, most).map((group) => (
                <GridListItem
                  key={keyOf(group)}
                  id={keyOf(group)}
                  textValue={`${nameOf(group.destinationId)} ${wordsOf(group.reason)} ${group.error ?? ""}`}
                  href={`/dead-letters/letters${searchOf(filterOf(group))}`}
                  className={styles["row"] ?? ""}
                >
                  <GroupRow group={group} name={nameOf(group.destinationId)} />
                </GridListItem>
              ))}
            </GridList>
            {data.length > most && (
              <Button onPress={() => setMost(most + STEP)}>
                {`More: ${countOf(data.length - most)} smaller groups`}
              </Button>
            )}
          </div>
        )}
      </Loaded>
    </>
  );
}

function GroupRow({ group, name }: { readonly group: Group; readonly name: string }) {
  const { reason, reasonClass, error, count, firstAt, lastAt, hours, remedy } = group;
  return (
    <div className={styles["group"]}>
      <strong className={styles["name"]}>{name}</strong>
      <span>
        <Mark tone="bad">{wordsOf(reason)}</Mark> {error}
      </span>
      <span className={styles["count"]}>{count.toLocaleString("en-GB")}</span>
      <span className={styles["detail"]}>
        <MomentText at={firstAt} /> – <MomentText at={lastAt} withDistance />
      </span>
      <HourBars hours={hours} />
      <span className={styles["remedy"]}>
        {reasonClass}: {remedy}
      </span>
      <span className={styles["review"]}>
        <ActionLink href={reviewOf(filterOf(group))}>Review and replay</ActionLink>
      </span>
    </div>
  );
}

function keyOf({ destinationId, reason, reasonClass, error }: Group): string {
  return JSON.stringify([destinationId, reason, reasonClass, error]);
}

function filterOf({ destinationId, reason, error }: Group): Filter<LetterFilterKey> {
  return { destinationId, reason, ...(error === null ? {} : { error }) };
}

export function wordsOf(reason: Group["reason"]): string {
  return reason.replaceAll("_", " ");
}
