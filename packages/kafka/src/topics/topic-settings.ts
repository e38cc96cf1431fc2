/** Reads and changes the settings of topics. */
// By kafkajs's default export: Node cannot find `ConfigResourceTypes` among kafkajs's named exports.
import kafkajs, { type Admin } from "kafkajs";

const { TOPIC } = kafkajs.ConfigResourceTypes;

export interface TopicSettings {
  /** All settings, defaults included. */
  readonly all: ReadonlyMap<string, string>;
  /** Only the settings that somebody gave to this topic. */
  readonly given: ReadonlyMap<string, string>;
}

/** The broker's number for a setting that was given to the topic itself. */
const GIVEN_TO_TOPIC = 1;

/** All settings of these topics, by topic. */
export async function describeSettings(
  admin: Admin,
  topics: readonly string[],
): Promise<ReadonlyMap<string, TopicSettings>> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: topics.map((name) => ({ type: TOPIC, name })),
  });
  return new Map(
    resources.map(({ resourceName, configEntries }) => [
      resourceName,
      {
        all: new Map(configEntries.map((entry) => [entry.configName, entry.configValue])),
        given: new Map(
          configEntries
            .filter((entry) => Number(entry.configSource) === GIVEN_TO_TOPIC)
            .map((entry) => [entry.configName, entry.configValue]),
        ),
      },
    ]),
  );
}

/**
 * Gives topics settings, by topic and setting. kafkajs can only replace all settings of a topic at once, so this
 * function writes those again that somebody gave to the topic before.
 */
export async function alterSettings(
  admin: Admin,
  changes: ReadonlyMap<string, ReadonlyMap<string, string>>,
): Promise<void> {
  if (changes.size === 0) return;
  const settings = await describeSettings(admin, [...changes.keys()]);
  const resources = [...changes].map(([name, wanted]) => {
    const merged = new Map([...(settings.get(name)?.given ?? []), ...wanted]);
    const configEntries = [...merged].map(([setting, value]) => ({ name: setting, value }));
    return { type: TOPIC, name, configEntries };
  });
  await admin.alterConfigs({ validateOnly: false, resources });
}
