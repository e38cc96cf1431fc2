import { useQuery } from "@tanstack/react-query";
import { ChevronDown, ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";
import { asked } from "../../api/asked.ts";
import { BodyView } from "../../body/body-view.tsx";
import { Button } from "../../elements/button.tsx";
import { CopyButton } from "../../elements/copied.tsx";
import { Loaded } from "../../listing/loaded.tsx";
import { bytesOf } from "../../moment/numbers.ts";
import { curlOf } from "../../terminal/curl.ts";
import styles from "./event-page.module.css";

export interface RequestRecordProps {
  readonly messageId: string;
  readonly destinationId: string;
  readonly sourceId: string;
  readonly name: string;
  /** The text beside the button that opens it. */
  readonly children: ReactNode;
}

/** The request to a destination, out of its record: the body, and each URL's headers with secrets masked. */
export function RequestRecord({ name, children, ...delivery }: RequestRecordProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <div className={styles["line"]}>
        <Button look="quiet" aria-expanded={isOpen} aria-label={`Request to ${name}`} onPress={() => setOpen(!isOpen)}>
          {isOpen ? <ChevronDown size={16} aria-hidden /> : <ChevronRight size={16} aria-hidden />} Request
        </Button>
        {children}
      </div>
      {isOpen && <ShownRecord delivery={delivery} />}
    </>
  );
}

export interface ShownRecordProps {
  readonly delivery: Omit<RequestRecordProps, "name" | "children"> & { readonly record?: string | undefined };
  /** The one URL whose request is shown; all that the record owes where it is absent. */
  readonly url?: string;
}

/** Read when it is opened alone: one record costs up to four megabytes of its topic. */
export function ShownRecord({ delivery, url: only }: ShownRecordProps) {
  const query = useQuery({ ...asked("GET /v1/deliveries/record", { query: { ...delivery } }), retry: false });
  return (
    <div className={styles["record"]}>
      <Loaded query={query} what="record" rows={3}>
        {({ body, rest, requests, place }) => (
          <>
            {requests
              .filter(({ url }) => only === undefined || url === only)
              .map(({ url, headers }) => (
                <div key={url} className={styles["request"]}>
                  <p className={styles["line"]}>
                    <code>POST {url}</code>
                    <CopyButton what="request as curl" text={curlOf({ url, headers, body })} />
                    <span className={styles["of"]}>copy as curl</span>
                  </p>
                  <dl className={styles["headers"]}>
                    {Object.entries(headers).map(([header, value]) => (
                      <div key={header}>
                        <dt>{header}</dt>
                        <dd>{value}</dd>
                      </div>
                    ))}
                  </dl>
                </div>
              ))}
            {only !== undefined && requests.every(({ url }) => url !== only) && (
              <p className={styles["of"]}>Its destination no longer has this URL, so its headers are not known.</p>
            )}
            <BodyView body={body} fileName={`${delivery.messageId}.json`} />
            {rest !== null && (
              <>
                <p className={styles["of"]}>What the event has beside:</p>
                <BodyView body={rest} fileName={`${delivery.messageId}-rest.json`} />
              </>
            )}
            <p className={styles["of"]}>
              {bytesOf(new Blob([body]).size)} from <code>{`${place.topic} ${place.partition}:${place.offset}`}</code>
            </p>
          </>
        )}
      </Loaded>
    </div>
  );
}
