import { Button } from "../elements/button.tsx";
import { toggleLive, useLiveState } from "./live.ts";

/** Beside a live list: it does the same as the dot above the page. */
export function PauseButton() {
  const { state } = useLiveState();
  const isPaused = state === "paused";
  return (
    <Button
      look="quiet"
      aria-label={isPaused ? "Go on with what comes live" : "Pause what comes live"}
      onPress={toggleLive}
    >
      {isPaused ? "Go on" : "Pause"}
    </Button>
  );
}
