/** Topics and members of groups for a file of tests: named after the file's prefix, and gone after it. */
import { withAdmin } from "@posthaste/testkit/broker";
import { createTopic, deleteTopics, uniqueName } from "@posthaste/testkit/topics";
import { afterAll, afterEach } from "vitest";
import { createMember, type Member, type MemberOptions } from "./consumer-harness.ts";

export interface UsedMembers {
  /** Begins the name of every topic. */
  readonly prefix: string;
  /** Makes a topic that is gone after the file's last test. */
  readonly topicOf: (partitions: number, settings?: Readonly<Record<string, string>>) => Promise<string>;
  /** Makes a member that is closed after the test. */
  readonly addMember: (options: MemberOptions) => Member;
  /** The same; resolves when it is started. */
  readonly startMember: (options: MemberOptions) => Promise<Member>;
}

/** To be called once, at the top of a file. */
export function useMembers(name: string): UsedMembers {
  const prefix = uniqueName(name);
  const members: Member[] = [];
  let made = 0;
  afterEach(async () => {
    await Promise.all(members.splice(0).map((member) => member.close()));
  });
  afterAll(() => deleteTopics(prefix));
  const addMember = (options: MemberOptions): Member => {
    const member = createMember(options);
    members.push(member);
    return member;
  };
  return {
    prefix,
    topicOf: (partitions, settings = {}) => {
      made += 1;
      return createTopic(`${prefix}-${made}`, { partitions, settings });
    },
    addMember,
    startMember: async (options) => {
      const member = addMember(options);
      await member.consumer.start();
      return member;
    },
  };
}

/** A group's committed offsets of a topic, by partition. */
export async function committed(groupId: string, topic: string) {
  const [found] = await withAdmin((admin) => admin.fetchOffsets({ groupId, topics: [topic] }));
  return (found?.partitions ?? []).sort((a, b) => a.partition - b.partition);
}

export async function committedOffsets(groupId: string, topic: string): Promise<number[]> {
  return (await committed(groupId, topic)).map(({ offset }) => Number(offset));
}
