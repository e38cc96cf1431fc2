/** What was given up, by destination, reason and error, the largest group first, with what helps. */
import { useQuery } from "@tanstack/react-query";
import { GridList, GridListItem } from "react-aria-components";
import type { DeadLetterGroups } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { searchOf } from "../../listing/filter.ts";
import { Freshness } from "../../listing/freshness.tsx";
import { Empty, Loaded } from "../../listing/loaded.tsx";
import { MomentText } from "../../moment/moment-text.tsx";
import { useNames } from "../../names/names.ts";
import { Mark } from "../../verdict/mark.tsx";
import styles from "./dead-letters-page.module.css";
import { HourBars } from "./hour-bars.tsx";

type Group = DeadLetterGroups["data"][number];

/** How often the groups are counted anew. */
const AGAIN_MS = 15_000;

export function DeadLettersPage() {
  const query = useQuery({ ...asked("GET /v1/dead-letters/groups", {}), refetchInterval: AGAIN_MS });
  const nameOf = useNames();
  return (
    <>
      <title>Dead letters · Posthaste</title>
      <h1>Dead letters</h1>
      <Loaded
        query={query}
        what="dead letters"
        isEmpty={({ data }) => data.length === 0}
        empty={<Empty command="posthaste dead-letters list">Nothing was given up: no delivery needs you.</Empty>}
      >
        {({ data, asOf, complete }) => (
          <div data-state="live">
            <Freshness asOf={asOf} complete={complete} />
            <GridList aria-label="dead letters">
              {data.map((group) => (
                <GridListItem
                  key={keyOf(group)}
                  id={keyOf(group)}
                  textValue={`${nameOf(group.destinationId)} ${wordsOf(group.reason)} ${group.error ?? ""}`}
                  href={lettersOf(group)}
                  className={styles["row"] ?? ""}
                >
                  <GroupRow group={group} name={nameOf(group.destinationId)} />
                </GridListItem>
              ))}
            </GridList>
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
    </div>
  );
}

function keyOf({ destinationId, reason, reasonClass, error }: Group): string {
  return JSON.stringify([destinationId, reason, reasonClass, error]);
}

function lettersOf({ destinationId, reason, error }: Group): string {
  return `/dead-letters/letters${searchOf({ destinationId, reason, ...(error === null ? {} : { error }) })}`;
}

export function wordsOf(reason: Group["reason"]): string {
  return reason.replaceAll("_", " ");
}
