/** Syncs in words: the one that runs, and the last one. */
import type { AudienceEntry } from "../../api/api-types.ts";
import { Ago, MomentText } from "../../moment/moment-text.tsx";
import { countOf } from "../../moment/numbers.ts";
import { Mark } from "../../verdict/mark.tsx";

/** How far the sync is that runs; nothing where none does. */
export function RunningSync({ syncing }: Pick<AudienceEntry, "syncing">) {
  if (syncing === null) return null;
  const { since, received, compared } = syncing;
  return (
    <>
      <Mark tone="waiting">syncing now</Mark>
      {" since "}
      <MomentText at={since} isShort />
      {received === null || compared === null
        ? ", by another process of control"
        : `: ${countOf(compared)} of ${countOf(received)} users compared`}
    </>
  );
}

/** The time and the result of an audience's last whole sync. */
export function LastSync({ lastSync }: Pick<AudienceEntry, "lastSync">) {
  if (lastSync === null) return <>no whole sync yet</>;
  const { endedAt, added, removed, unchanged } = lastSync;
  return (
    <>
      <Ago at={endedAt} />
      {`: ${countOf(added)} added, ${countOf(removed)} removed, ${countOf(unchanged)} unchanged`}
    </>
  );
}

/** When values of a computed trait came last, and how many of them were others than before. */
export function LastValues({ lastSync }: Pick<AudienceEntry, "lastSync">) {
  if (lastSync === null) return <>no values yet</>;
  const { endedAt, added, unchanged } = lastSync;
  return (
    <>
      <Ago at={endedAt} />
      {`: ${countOf(added)} changed, ${countOf(unchanged)} unchanged`}
    </>
  );
}
