import type { Status } from "../../api/api-types.ts";
import { Awaited } from "../../listing/loaded.tsx";
import { countOf } from "../../moment/numbers.ts";
import { useNaming } from "../../names/names.ts";
import { HeadedList } from "./headed-list.tsx";
import styles from "./overview-page.module.css";

/** Replays that have not ended, each with how far it is. */
export function RunningReplays({ replays }: Pick<Status, "replays">) {
  const { nameOf, isSettled } = useNaming();
  if (replays.length === 0) return null;
  if (!isSettled) return <Awaited />;
  return (
    <HeadedList id="replays" head="Replays">
      {replays.map(({ id, destinationId, state, replayed, matched }) => (
        <li key={id} className={styles["change"]}>
          <progress aria-label={`Replay ${id}`} max={Math.max(matched, 1)} value={replayed} />
          <span>
            <a href={`/replays/${id}`}>Replay{toWhere(destinationId, nameOf)}</a>
            {` ${state}, ${countOf(replayed)} of ${countOf(matched)} sent`}
          </span>
        </li>
      ))}
    </HeadedList>
  );
}

/** ` to Billing`; nothing of a replay to several, and no id of one that has no name any more. */
export function toWhere(destinationId: string | null | undefined, nameOf: (id: string) => string): string {
  if (destinationId === null || destinationId === undefined) return "";
  const name = nameOf(destinationId);
  return ` to ${name === destinationId ? "a destination" : name}`;
}
