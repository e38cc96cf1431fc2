import { useQuery } from "@tanstack/react-query";
import { asked } from "../../api/asked.ts";
import { useMissingScope } from "../../session/session.ts";
import { areOff } from "../test-receivers/are-off.ts";

/** Whether control has test receivers, for tokens that may make one. */
export function useTestReceivers(): { readonly isAwaited: boolean; readonly areOff: boolean } {
  const isAsked = useMissingScope("write") === null;
  const { isPending, error } = useQuery({ ...asked("GET /v1/test-receivers", {}), enabled: isAsked, retry: false });
  return { isAwaited: isAsked && isPending, areOff: areOff(error) };
}
