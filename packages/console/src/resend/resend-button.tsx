import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useAgain } from "../api/again.ts";
import type { ResendInput } from "../api/api-types.ts";
import { asked } from "../api/asked.ts";
import { call } from "../api/client.ts";
import { Button } from "../elements/button.tsx";
import { Refusal } from "../elements/refusal.tsx";
import { useMissingScope, useSession } from "../session/session.ts";
import { Mark } from "../verdict/mark.tsx";
import styles from "./resend.module.css";

/** How often the outcome is looked for. */
const LOOK = { leastMs: 500, mostMs: 10_000 };

export interface ResendButtonProps {
  readonly delivery: ResendInput;
  readonly children: string;
  /** In words that do without the text around it. */
  readonly label?: string;
  /** Why it cannot be sent; null where it can. */
  readonly unavailable?: string | null;
  /** It may be sent once. */
  readonly isOnce?: boolean;
  readonly look?: "primary" | "plain";
}

/** Sends one delivery again, by hand, and shows the receiver's answer. */
export function ResendButton(props: ResendButtonProps) {
  const { delivery, children, label, unavailable = null, isOnce = false, look = "plain" } = props;
  const client = useQueryClient();
  const missingScope = useMissingScope("replay");
  const { name } = useSession();
  const sending = useMutation({
    mutationFn: () => call("POST /v1/deliveries/resend", { body: delivery }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["GET /v1/events/{messageId}"] }),
  });
  return (
    <div className={styles["resend"]}>
      <Button
        look={look}
        data-resend
        isPending={sending.isPending}
        unavailable={missingScope ?? unavailable ?? (isOnce && sending.isSuccess ? "it was sent" : null)}
        onPress={() => sending.mutate()}
        {...(label === undefined ? {} : { "aria-label": label })}
      >
        {children}
      </Button>
      <span role="status">
        {sending.data !== undefined && (
          <>
            <Outcome key={sending.data.replayId} replayId={sending.data.replayId} /> {`by hand, by ${name}.`}
            {sending.data.copyWaits && " A copy that waits for a retry stays, and is sent when it is due."}
          </>
        )}
      </span>
      <Refusal error={sending.error} />
    </div>
  );
}

/** The receiver's answer to the resend. */
function Outcome({ replayId }: { readonly replayId: string }) {
  const again = useAgain(LOOK);
  const { data } = useQuery({
    ...asked("GET /v1/deliveries", { query: { replayId, limit: 1 } }),
    refetchInterval: ({ state }) => ((state.data?.data.length ?? 0) === 0 ? again() : false),
  });
  const [attempt] = data?.data ?? [];
  if (attempt === undefined) return <Mark tone="waiting">on its way</Mark>;
  const said = attempt.urls.map(({ status, error }) => status ?? error ?? "no answer").join(", ");
  return attempt.outcome === "delivered" ? (
    <Mark tone="good">{`${said}: it was taken`}</Mark>
  ) : (
    <Mark tone="bad">{`${said}: it was not taken`}</Mark>
  );
}
