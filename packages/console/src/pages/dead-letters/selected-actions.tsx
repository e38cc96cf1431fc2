import { reviewOf } from "../../dead-letters/replay-filter.ts";
import { ActionLink } from "../../elements/action-link.tsx";
import { Button } from "../../elements/button.tsx";
import { countOf } from "../../moment/numbers.ts";
import styles from "./dead-letters-page.module.css";

/** The API takes so many places at once. */
const MOST = 1000;

export interface SelectedActionsProps {
  readonly places: readonly string[];
  readonly onClear: () => void;
}

/** Leads the selected dead letters to the review, which counts them before they are sent. */
export function SelectedActions({ places, onClear }: SelectedActionsProps) {
  const tooMany = places.length > MOST ? `at most ${countOf(MOST)} at once: replay the whole filter` : null;
  return (
    <div className={styles["selected"]}>
      <strong>{countOf(places.length)} selected</strong>
      <ActionLink href={reviewOf({ places: places.join(",") })} unavailable={tooMany}>
        Review and replay selected
      </ActionLink>
      <Button look="quiet" onPress={onClear}>
        Clear selection
      </Button>
    </div>
  );
}
