import { useParams } from "@tanstack/react-router";
import { usePageKey } from "../../keys/page-keys.ts";
import { PageTitle } from "../../status/page-title.tsx";
import styles from "./event-page.module.css";
import { EventTitle, useEventTitle } from "./event-title.tsx";
import { EventView } from "./event-view.tsx";

export function EventPage() {
  const { messageId } = useParams({ from: "/events/$messageId" });
  usePageKey("c", pressCopy);
  usePageKey("r", pressResend);
  return (
    <>
      <PageTitle>{useEventTitle(messageId) ?? messageId}</PageTitle>
      <h1 className={styles["head"]}>
        <EventTitle messageId={messageId} />
      </h1>
      <EventView messageId={messageId} />
    </>
  );
}

/** As the button beside the message id does, which then says that it was copied. */
function pressCopy(): void {
  document.querySelector<HTMLElement>("main h1 [data-copy]")?.click();
}

/** The one button there is; of several, the first has the focus then. */
function pressResend(): void {
  const [first, ...others] = document.querySelectorAll<HTMLElement>("main [data-resend]");
  if (others.length === 0) first?.click();
  else first?.focus();
}
