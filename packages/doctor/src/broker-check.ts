/** Checks that brokers answer, and that they notice soon when one of them is gone. */
import type { BrokerSettings } from "@posthaste/kafka/topics/broker-settings";
import type { Check, Finding } from "./check.ts";

/** The settings that decide how soon another broker leads, each with the most that it should be, in ms. */
export const FAILOVER_SETTINGS: ReadonlyMap<string, number> = new Map([
  ["broker.session.timeout.ms", 3000],
  ["broker.heartbeat.interval.ms", 500],
  ["replica.fetch.backoff.ms", 200],
]);

export interface BrokerParts {
  /** True while a broker answers, otherwise why not. */
  readonly state: () => true | string;
  /** The brokers that do not answer while another does. */
  readonly unresponsive: () => readonly string[];
  /** The brokers' settings; rejects where they keep them from control. */
  readonly settings: () => Promise<readonly BrokerSettings[]>;
}

export function brokerCheck({ state, unresponsive, settings }: BrokerParts): Check {
  return {
    name: "brokers",
    look: async () => {
      const answer = state();
      if (answer !== true) return [{ state: "wrong", what: `No broker answers: ${answer}.`, remedy: START_BROKERS }];
      // Control may lack the grant, which only these settings need.
      const seen = await settings().catch(() => []);
      return [...unresponsive().map(unresponsiveFinding), ...slowFindings(seen)];
    },
  };
}

const START_BROKERS =
  "Start the brokers, or name others in KAFKA_BROKERS of control: kafka-broker-api-versions.sh --bootstrap-server BROKER:9092";

function unresponsiveFinding(broker: string): Finding {
  return {
    state: "wrong",
    what: `The broker ${broker} does not answer, while others do.`,
    remedy: `See its log and its disk where it runs, and start it again: kafka-broker-api-versions.sh --bootstrap-server ${broker}`,
  };
}

/** One broker has no other to lead in its place. */
function slowFindings(brokers: readonly BrokerSettings[]): readonly Finding[] {
  if (brokers.length < 2) return [];
  return [...FAILOVER_SETTINGS].flatMap(([setting, most]): readonly Finding[] => {
    const slow = brokers.filter(({ settings }) => Number(settings.get(setting) ?? most) > most);
    const [first] = slow;
    if (first === undefined) return [];
    return [
      {
        state: "warning",
        what:
          `${setting} is ${first.settings.get(setting)} at broker ${slow.map(({ brokerId }) => brokerId).join(", ")}: ` +
          "calls are refused for longer when a broker is gone.",
        remedy: `Set ${setting}=${most} in server.properties of every broker, and restart them one at a time.`,
      },
    ];
  });
}
