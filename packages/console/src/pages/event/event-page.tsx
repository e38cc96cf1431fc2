import { useParams } from "@tanstack/react-router";
import { copyText } from "../../elements/clipboard.ts";
import { Copied } from "../../elements/copied.tsx";
import { usePageKey } from "../../keys/page-keys.ts";
import { PageTitle } from "../../status/page-title.tsx";
import styles from "./event-page.module.css";
import { EventView } from "./event-view.tsx";

export function EventPage() {
  const { messageId } = useParams({ from: "/events/$messageId" });
  usePageKey("c", () => void copyText(messageId));
  usePageKey("r", pressResend);
  return (
    <>
      <PageTitle>{messageId}</PageTitle>
      <h1 className={styles["id"]}>
        <Copied what="message id" text={messageId} />
      </h1>
      <EventView messageId={messageId} />
    </>
  );
}

/** The one button there is; of several, the first has the focus then. */
function pressResend(): void {
  const [first, ...others] = document.querySelectorAll<HTMLElement>("main [data-resend]");
  if (others.length === 0) first?.click();
  else first?.focus();
}
