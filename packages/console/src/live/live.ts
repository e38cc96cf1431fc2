/** The tab's stream as pages use it. */
import { useEffect, useRef, useSyncExternalStore } from "react";
import { type LiveListener, type LiveState, LiveStream } from "./live-stream.ts";

let stream = new LiveStream();

/** For a console that is shown anew: nothing is paused, and nothing was heard. */
export function beginLive(): void {
  stream = new LiveStream();
}

/** For the frame: the stream is open while it is shown to somebody who is signed in. */
export function useOpenStream(isSignedIn: boolean): void {
  useEffect(() => (isSignedIn ? stream.start() : undefined), [isSignedIn]);
}

export function useLiveState(): LiveState {
  return useSyncExternalStore(stream.subscribe, stream.state);
}

/** The interval of repeated reads; false while live updates are paused. */
export function usePausable(ms: number): number | false {
  return useLiveState().state === "paused" ? false : ms;
}

export function toggleLive(): void {
  stream.togglePause();
}

/** Listens while the caller is on the page; null listens to nothing. */
export function useLive(listener: LiveListener | null): void {
  const newest = useRef(listener);
  newest.current = listener;
  const asked = listener === null ? null : JSON.stringify([listener.topics, listener.filter]);
  useEffect(() => {
    const listens = newest.current;
    if (asked === null || listens === null) return;
    return stream.listen({
      topics: listens.topics,
      filter: listens.filter,
      onRows: (rows) => newest.current?.onRows(rows),
      onGap: (isBegin) => newest.current?.onGap(isBegin),
    });
  }, [asked]);
}
