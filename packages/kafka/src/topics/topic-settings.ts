/** Reading and changing the settings of topics. */
// By its default export: Node does not find the name of this one among kafkajs's.
import kafkajs, { type Admin } from "kafkajs";

const { TOPIC } = kafkajs.ConfigResourceTypes;

export interface TopicSettings {
  /** Defaults included. */
  readonly all: ReadonlyMap<string, string>;
  /** Only those that somebody gave to this topic. */
  readonly given: ReadonlyMap<string, string>;
}

/** The broker's word for a setting that was given to the topic itself. */
const GIVEN_TO_TOPIC = 1;

/** Every setting of these topics. */
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
 * Gives topics settings, by topic and name. kafkajs can only write all of a topic's settings at once, so those that
 * were given to it before are written again.
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
