import styles from "./moment.module.css";
import { clockTime, distance, roughDistance, toTheSecond } from "./moment.ts";
import { useNow, useZone } from "./zone.ts";

export interface MomentTextProps {
  /** As the API tells moments: ISO 8601. */
  readonly at: string;
  /** Also how far it is from now. */
  readonly withDistance?: boolean;
  /** To the second. */
  readonly isShort?: boolean;
}

/** A moment to the millisecond; its copy is ISO 8601. */
export function MomentText({ at, withDistance = false, isShort = false }: MomentTextProps) {
  const now = useNow();
  const zone = useZone();
  const date = new Date(at);
  return (
    <time
      dateTime={at}
      title={at}
      className={styles["moment"]}
      onCopy={(event) => {
        event.clipboardData.setData("text/plain", at);
        event.preventDefault();
      }}
    >
      {isShort ? toTheSecond(clockTime(date, now, zone)) : clockTime(date, now, zone)}
      {withDistance && (
        <>
          {" "}
          <span className={styles["distance"]}>{distance(date, now, new Date())}</span>
        </>
      )}
    </time>
  );
}

/** How long ago a moment was, for a row of a list; all of it stands in the title and is copied. */
export function Ago({ at }: Pick<MomentTextProps, "at">) {
  const now = useNow();
  const zone = useZone();
  const date = new Date(at);
  return (
    <time
      dateTime={at}
      title={`${clockTime(date, now, zone)} ${zone}`}
      className={styles["moment"]}
      onCopy={(event) => {
        event.clipboardData.setData("text/plain", at);
        event.preventDefault();
      }}
    >
      {roughDistance(date, now, new Date())}
    </time>
  );
}
