import { Button } from "react-aria-components";
import { clockTime, toTheSecond } from "../moment/moment.ts";
import { useNow, useZone } from "../moment/zone.ts";
import { toggleLive, useLiveState } from "./live.ts";
import styles from "./live-dot.module.css";

const SHAPES = { live: "●", connecting: "○", reconnecting: "▲", stale: "■", paused: "❙❙" } as const;

/** Whether the page shows the present; pressed, it pauses and goes on. */
export function LiveDot() {
  const live = useLiveState();
  const now = useNow();
  const zone = useZone();
  const since = "since" in live ? toTheSecond(clockTime(new Date(live.since), now, zone)) : null;
  const words = since === null || live.state === "reconnecting" ? live.state : `${live.state} since ${since}`;
  return (
    <>
      <Button
        className={`${styles["dot"]} ${styles[live.state]}`}
        aria-label={`${words}: ${live.state === "paused" ? "go on" : "pause"}`}
        onPress={toggleLive}
      >
        <span aria-hidden>{SHAPES[live.state]}</span>
        <span className={styles["words"]}>{words}</span>
      </Button>
      <span role="status" className={styles["heard"]}>
        {live.state === "stale" ? `The page is stale since ${since}` : ""}
      </span>
    </>
  );
}
