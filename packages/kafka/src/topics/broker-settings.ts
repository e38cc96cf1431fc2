/** The settings of each broker. */
// By kafkajs's default export: Node cannot find `ConfigResourceTypes` among kafkajs's named exports.
import kafkajs from "kafkajs";
import type { KafkaConnection } from "../connection/connect.ts";

const { BROKER } = kafkajs.ConfigResourceTypes;

export interface BrokerSettings {
  readonly brokerId: number;
  /** The asked settings that the broker has, by name. */
  readonly settings: ReadonlyMap<string, string>;
}

/** Rejects where a broker does not answer, and where the brokers keep their settings from this process. */
export async function readBrokerSettings(
  connection: KafkaConnection,
  names: readonly string[],
): Promise<readonly BrokerSettings[]> {
  return connection.withAdmin(async (admin) => {
    const { brokers } = await admin.describeCluster();
    return Promise.all(
      brokers.map(async ({ nodeId }) => {
        const { resources } = await admin.describeConfigs({
          includeSynonyms: false,
          resources: [{ type: BROKER, name: String(nodeId), configNames: [...names] }],
        });
        const entries = resources.flatMap(({ configEntries }) => configEntries);
        return { brokerId: nodeId, settings: new Map(entries.map((each) => [each.configName, each.configValue])) };
      }),
    );
  });
}
