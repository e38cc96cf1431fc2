import type { Status } from "../../api/api-types.ts";
import { ActionLink } from "../../elements/action-link.tsx";
import { searchOf } from "../../listing/filter.ts";
import { MomentText } from "../../moment/moment-text.tsx";
import { countOf } from "../../moment/numbers.ts";
import { shareOf } from "../../status/health-words.ts";
import { Mark } from "../../verdict/mark.tsx";
import { HeadedList } from "./headed-list.tsx";
import styles from "./overview-page.module.css";

type Destination = Status["needsSomebody"][number];

/** Destinations that need attention, the worst first: their answers, since when, the next step. */
export function NeedsAttention({ status: { needsSomebody, needing, destinations } }: { readonly status: Status }) {
  const others = needing - needsSomebody.length;
  if (needsSomebody.length === 0) return null;
  return (
    <HeadedList
      id="needing"
      head="Needs you"
      isHeadSeen={false}
      after={
        others > 0 && (
          <p className={styles["more"]}>
            {/* The worst stand here: those that are not shown fail, unless there are none of these. */}
            <a href={`/destinations?state=${destinations.failing > 0 ? "failing" : "open"}`}>
              {countOf(others)} more that fail
            </a>
          </p>
        )
      }
    >
      {needsSomebody.map((each) => (
        <Row key={each.destinationId} destination={each} />
      ))}
    </HeadedList>
  );
}

function Row({ destination }: { readonly destination: Destination }) {
  const { destinationId, name, state, since, deliversAgainSince, waiting, deadLetters } = destination;
  const { nextProbe, nextRetry } = destination;
  const next = state === "open" ? (nextProbe ?? nextRetry) : (nextRetry ?? nextProbe);
  const deadLetterCount = deadLetters ?? 0;
  return (
    <li className={styles["row"]}>
      <span className={styles["who"]}>
        <Mark tone={state === "open" ? "bad" : "waiting"}>{name}</Mark>
      </span>
      <span className={styles["what"]}>
        {state === "open" && "paused by failures, "}
        <strong>{wordsOf(destination)}</strong>
        {deliversAgainSince !== null && (
          <>
            {", delivers again since "}
            <MomentText at={deliversAgainSince} isShort withDistance />
          </>
        )}
        {deliversAgainSince === null && since !== null && (
          <>
            {" since "}
            <MomentText at={since} isShort withDistance />
          </>
        )}
      </span>
      <span className={styles["next"]}>
        {next === null ? (
          "no retry is due"
        ) : (
          <>
            {state === "open" ? "next probe " : "next try "}
            <MomentText at={next} isShort withDistance />
          </>
        )}
      </span>
      <span className={styles["count"]}>
        waiting <b>{waiting === null ? "–" : countOf(waiting.total)}</b>
      </span>
      <span className={styles["count"]}>
        dead <b>{deadLetters === null ? "–" : countOf(deadLetterCount)}</b>
      </span>
      <span className={styles["actions"]}>
        {deadLetterCount > 0 && (
          <ActionLink href={`/replay${searchOf({ destinationId })}`} label={`Review the dead letters of ${name}`}>
            Review
          </ActionLink>
        )}
        <ActionLink href={`/destinations/${destinationId}`} label={`Open ${name}`}>
          Open
        </ActionLink>
      </span>
    </li>
  );
}

/** Of one that delivers again, how much failed before. */
function wordsOf({ reason, success, deliversAgainSince }: Destination): string {
  if (deliversAgainSince !== null && success !== null) return `${shareOf(1 - success)} of 5 m failed`;
  if (reason !== null) return String(reason.error ?? reason.status ?? "no answer");
  return success === null || success === 0
    ? "no answer is known"
    : `answers again, ${shareOf(1 - success)} of 5 m failed`;
}
