import type { Destination } from "../../api/api-types.ts";
import { searchOf } from "../../listing/filter.ts";
import { useMissingScope } from "../../session/session.ts";

/** As control makes URLs of test receivers. */
const RECEIVER_URL = /\/receive\/(rcv_\w+)$/;

/** Where the destination leads to test receivers: the way to their requests, for tokens that may see them. */
export function TestReceiverLinks({ destination: { settings } }: { readonly destination: Destination }) {
  const missingScope = useMissingScope("write");
  const ids = settings.urls.flatMap(({ url }) => RECEIVER_URL.exec(url)?.[1] ?? []);
  if (missingScope !== null || ids.length === 0) return null;
  return (
    <p>
      {ids.map((id, at) => (
        <span key={id}>
          {at > 0 && " · "}
          <a href={`/test-receivers${searchOf({ id })}`}>
            {ids.length === 1 ? "What the test receiver got" : `What test receiver ${at + 1} got`}
          </a>
        </span>
      ))}
    </p>
  );
}
