import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useAgain } from "../api/again.ts";
import type { ResendInput } from "../api/api-types.ts";
import { asked } from "../api/asked.ts";
import { call } from "../api/client.ts";
import { Button } from "../elements/button.tsx";
import { Refusal } from "../elements/refusal.tsx";
import { RowMenu } from "../elements/row-menu.tsx";
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
  const missingScope = useMissingScope("replay");
  const sending = useResend(delivery);
  return (
    <div className={styles["resend"]}>
      <Button
        look={look}
        data-resend=""
        isPending={sending.isPending}
        unavailable={missingScope ?? unavailable ?? (isOnce && sending.isSuccess ? "it was sent" : null)}
        onPress={() => sending.mutate()}
        {...(label === undefined ? {} : { "aria-label": label })}
      >
        {children}
      </Button>
      <Sent sending={sending} />
    </div>
  );
}

export interface ResendRowProps {
  readonly delivery: ResendInput;
  /** Its destination, by name. */
  readonly to: string;
  /** Where nothing failed, it is sent again by a menu. */
  readonly isFailed: boolean;
  readonly unavailable: string | null;
}

/** The same, as the action of a row. */
export function ResendRow({ delivery, to, isFailed, unavailable }: ResendRowProps) {
  const missingScope = useMissingScope("replay");
  const sending = useResend(delivery);
  const { messageId } = delivery;
  if (isFailed) {
    return (
      <ResendButton delivery={delivery} label={`Send again ${messageId} to ${to}`} unavailable={unavailable}>
        Send again
      </ResendButton>
    );
  }
  return (
    <div className={styles["resend"]}>
      <RowMenu
        label={`Actions for ${messageId} to ${to}`}
        actions={[{ words: "Send again", onAction: () => sending.mutate(), unavailable: missingScope ?? unavailable }]}
      />
      <Sent sending={sending} />
    </div>
  );
}

function useResend(delivery: ResendInput) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => call("POST /v1/deliveries/resend", { body: delivery }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["GET /v1/events/{messageId}"] }),
  });
}

/** The result of a resend, or the reason why it was refused. */
function Sent({ sending: { data, error } }: { readonly sending: ReturnType<typeof useResend> }) {
  const { name } = useSession();
  return (
    <>
      <span role="status">
        {data !== undefined && (
          <>
            <Outcome key={data.replayId} replayId={data.replayId} /> {`by hand, by ${name}.`}
            {data.copyWaits && " A copy that waits for a retry stays, and is sent when it is due."}
          </>
        )}
      </span>
      <Refusal error={error} />
    </>
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
