/** The name of an event, beside its type where that says more. */
import styles from "./names.module.css";

interface Named {
  readonly type: string | null;
  readonly event: string | null;
}

/** `Order Completed`, `identify`; `call` where nothing is known. */
export function eventName({ type, event }: Named): string {
  return event ?? type ?? "call";
}

export function EventName({ type, event }: Named) {
  return (
    <>
      <span className={styles["name"]}>{eventName({ type, event })}</span>
      {event !== null && type !== null && <span className={styles["type"]}> {type}</span>}
    </>
  );
}
