/**
 * `npm run test:hostile:wire -- [--door=ingest] [--minutes=10] [--seed=S] [--first] [--stream=JSON]
 * [--put-back=FAULT]`: a search for the streams of bytes that cost a whole installation most, door by door, each with
 * so many minutes. Prints its seed, the finds beyond the bounds (door.ts) and the dearest of each door. With `--first`
 * it ends at the first that is beyond; with `--stream`, which may come more than once, it measures that one; with
 * `--put-back` a fault of put-back.ts is there. Ends with 1 when one is beyond.
 */
import { parseArgs } from "node:util";
import { startInstallation } from "../e2e/installation.ts";
import { climb } from "./climb.ts";
import { deliveryDoor } from "./delivery-door.ts";
import { BOUNDS, type Cost, type Door, partOfBounds } from "./door.ts";
import { type Meter, startMeter } from "./meter.ts";
import { putBack } from "./put-back.ts";
import { registryAtStartDoor, registryDoor } from "./registry-door.ts";
import { exportsDoor, serverDoors } from "./server-doors.ts";
import type { Stream } from "./stream.ts";

const SAID_EVERY = 20;

const { values } = parseArgs({
  options: {
    door: { type: "string", multiple: true },
    minutes: { type: "string", default: "10" },
    seed: { type: "string" },
    first: { type: "boolean", default: false },
    stream: { type: "string", multiple: true },
    "put-back": { type: "string" },
  },
});
const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);

function words({ memoryMb, slower, refused, recoveryS, processor, pauseMs, played }: Cost): string {
  return [
    `${memoryMb.toFixed(0)} MB above idle (bound ${BOUNDS.memoryMb})`,
    `neighbour's p99 ${slower.toFixed(1)} times alone (${BOUNDS.slower}), longest ${pauseMs.toFixed(0)} ms`,
    `${refused} refused (${BOUNDS.refused})`,
    `back after ${recoveryS.toFixed(1)} s (${BOUNDS.recoveryS})`,
    `${(100 * processor).toFixed(0)} % of a processor for ${(played.bytes / 1e6).toFixed(1)} MB/s on ${played.connections.toFixed(0)} connections a second`,
  ].join(", ");
}

function aloneWords({ name }: Door, { alone }: Meter): string {
  return `${name}: alone p99 ${alone.p99Ms.toFixed(1)} ms, ${alone.residentMb.toFixed(0)} MB`;
}

/** Returns whether all kept to the bounds. */
async function search(door: Door): Promise<boolean> {
  const meter = await startMeter(door);
  const endMs = performance.now() + Number(values.minutes) * 60_000;
  console.log(aloneWords(door, meter));
  const startedMs = performance.now();
  let beyond = 0;
  const dearest = await climb({
    seed,
    measure: meter.measure,
    goesOn: () => performance.now() < endMs && !(values.first && beyond > 0),
    onTried: ({ stream, cost }, tried) => {
      const isBeyond = partOfBounds(cost) > 1;
      if (isBeyond) beyond += 1;
      if (!isBeyond && tried % SAID_EVERY !== 0) return;
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
      console.log(
        `${seconds} s, ${tried}. stream${isBeyond ? " BEYOND" : ""}: ${words(cost)}: ${JSON.stringify(stream)}`,
      );
    },
  });
  for (const { stream, cost } of dearest.slice(0, 3)) console.log(`dearest: ${words(cost)}: ${JSON.stringify(stream)}`);
  console.log(`${door.name}: ${beyond === 0 ? "all within the bounds" : `${beyond} beyond the bounds`}`);
  return beyond === 0;
}

/** Returns whether all kept to the bounds. */
async function measureEach(door: Door, streams: readonly string[]): Promise<boolean> {
  const meter = await startMeter(door);
  console.log(aloneWords(door, meter));
  let isWithin = true;
  for (const stream of streams) {
    const cost = await meter.measure(JSON.parse(stream) as Stream, true);
    console.log(`${door.name}: ${words(cost)}: ${stream}`);
    isWithin &&= partOfBounds(cost) <= 1;
  }
  return isWithin;
}

const faulty = values["put-back"] === undefined ? undefined : [putBack(values["put-back"])];
const installation = await startInstallation({ longLived: true, settings: { POSTHASTE_LOG_LEVEL: "error" } });
try {
  const ports = await serverDoors(installation);
  const clients = { "registry-at-start": registryAtStartDoor, registry: registryDoor };
  const others = { delivery: deliveryDoor, exports: exportsDoor, ...clients };
  const names = [...ports.keys(), ...Object.keys(others)];
  console.log(`${values.minutes} minutes a door from seed ${seed}; doors: ${names.join(", ")}`);
  for (const name of values.door ?? faulty ?? names) {
    const door = ports.get(name) ?? (await others[name as keyof typeof others]?.(installation));
    if (door === undefined) throw new Error(`there is no door ${name}`);
    try {
      if (!(await (values.stream === undefined ? search(door) : measureEach(door, values.stream))))
        process.exitCode = 1;
    } finally {
      await door.close?.();
    }
  }
} finally {
  await installation.close();
}
