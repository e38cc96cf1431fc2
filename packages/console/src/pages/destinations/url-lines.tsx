import type { DestinationHealth } from "../../api/api-types.ts";
import { CopyButton } from "../../elements/copied.tsx";
import { shortUrl } from "../../elements/short-text.ts";
import { MomentText } from "../../moment/moment-text.tsx";
import { countOf, rateOf } from "../../moment/numbers.ts";
import type { Tone } from "../../verdict/cause.ts";
import { Mark } from "../../verdict/mark.tsx";
import styles from "./health.module.css";

type Url = DestinationHealth["urls"][number];

const BREAKERS: Readonly<Record<Url["breaker"], readonly [words: string, tone: Tone]>> = {
  closed: ["working", "good"],
  open: ["paused by failures", "bad"],
  half_open: ["trying again", "waiting"],
  other: ["unknown", "off"],
};

/** A URL a line: its failures in the last hour, and whether it is paused. */
export function UrlLines({ urls }: Pick<DestinationHealth, "urls">) {
  const all = urls.map(({ url }) => url);
  return (
    <section aria-label="URLs" className={styles["part"]}>
      <h2>URLs</h2>
      <ul className={styles["urls"]}>
        {urls.map((each, at) => (
          <li key={each.url}>
            <span className={styles["url"]}>
              <strong>URL {at + 1}</strong> <code title={each.url}>{shortUrl(each.url, all)}</code>
              <CopyButton what={`URL ${at + 1}`} text={each.url} />
            </span>
            <Failed failures={each.failures} />
            <span className={styles["detail"]}>
              <Breaker url={each} />
              {urls.length > 1 && each.inFlight > 0 && `; ${countOf(each.inFlight)} in flight`}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** `503 × 981, timeout × 120 in 1 h`. */
function Failed({ failures }: Pick<Url, "failures">) {
  if (failures.length === 0) return <Mark tone="good">none failed in 1 h</Mark>;
  const words = failures.map(({ answer, count }) => `${answer} × ${countOf(count)}`).join(", ");
  return <Mark tone="bad">{`${words} in 1 h`}</Mark>;
}

/** `paused by failures since 06:12:00, next probe 10:42:40, last 503 in 12.4 ms`. */
function Breaker({ url: { breaker, openSince, nextProbe, notBefore, answer } }: { readonly url: Url }) {
  const [words, tone] = BREAKERS[breaker];
  return (
    <>
      <Mark tone={tone}>{words}</Mark>
      {openSince !== null && (
        <>
          {" since "}
          <MomentText at={openSince} isShort />
        </>
      )}
      {nextProbe !== null && (
        <>
          {", next probe "}
          <MomentText at={nextProbe} isShort />
        </>
      )}
      {answer === null ? (
        ", no answer yet"
      ) : (
        <span title={answer.time}>
          {", last "}
          <strong>{answer.error ?? answer.status ?? "no answer"}</strong> in {rateOf(answer.durationMs)} ms
        </span>
      )}
      {notBefore !== null && (
        <>
          {"; asked to wait until "}
          <MomentText at={notBefore} isShort />
        </>
      )}
    </>
  );
}
