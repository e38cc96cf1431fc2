import type { Status } from "../../api/api-types.ts";
import { ActionLink } from "../../elements/action-link.tsx";
import { searchOf } from "../../listing/filter.ts";
import { MomentText } from "../../moment/moment-text.tsx";
import { countOf } from "../../moment/numbers.ts";
import styles from "./overview-page.module.css";

/** At a time: the next ones come when these were seen to. */
const MOST_SHOWN = 3;

/** Destinations that deliver again and have dead letters that nobody replayed since: control tells which. */
export function AnsweringAgain({ status: { answeringAgain } }: { readonly status: Status }) {
  return answeringAgain.slice(0, MOST_SHOWN).map((each) => <Banner key={each.destinationId} {...each} />);
}

function Banner({ destinationId, name, since, deadLetters, firstAt, lastAt }: Status["answeringAgain"][number]) {
  const until = new Date(Date.parse(lastAt) + 1).toISOString();
  return (
    <section className={styles["banner"]} aria-label={`${name} answers again`}>
      <p>
        <strong>{name}</strong> answers 2xx again
        {since !== null && (
          <>
            {" since "}
            <MomentText at={since} isShort withDistance />
          </>
        )}
        . <strong>{countOf(deadLetters)}</strong> dead letter{deadLetters === 1 ? "" : "s"} since{" "}
        <MomentText at={firstAt} isShort /> can be sent again.
      </p>
      <ActionLink href={`/replay${searchOf({ destinationId, since: firstAt, until })}`} look="primary">
        Review
      </ActionLink>
    </section>
  );
}
