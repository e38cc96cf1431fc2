import fc from "fast-check";
import { expect, it } from "vitest";
import { countNotifications, notificationsOf } from "./deletion.ts";

it("a request becomes a notification for each user and destination of each source, whatever page is asked for", () => {
  const receivers = fc
    .uniqueArray(fc.constantFrom("src_1", "src_2", "src_3"))
    .chain((sourceIds) =>
      fc.tuple(...sourceIds.map((sourceId) => fc.integer({ min: 1, max: 3 }).map((count) => ({ sourceId, count })))),
    )
    .map((counted) =>
      counted.map(({ sourceId, count }) => ({
        sourceId,
        destinationIds: Array.from({ length: count }, (_, index) => `${sourceId}/dst_${index}`),
      })),
    );
  const users = fc.integer({ min: 1, max: 12 });
  fc.assert(
    fc.property(users, receivers, fc.integer({ min: 1, max: 7 }), (count, of, step) => {
      const deletion = { id: "del_1", userIds: Array.from({ length: count }, (_, n) => `user-${n}`), receivers: of };
      const total = countNotifications(count, of);
      const all = notificationsOf(deletion, 0, Number.MAX_SAFE_INTEGER);
      expect(all).toHaveLength(total);
      const pages = Array.from({ length: Math.ceil(total / step) }, (_, page) =>
        notificationsOf(deletion, page * step, page * step + step),
      );
      expect(pages.flat()).toEqual(all);
      const named = new Set(all.map(({ userId, destinationId }) => `${userId} ${destinationId}`));
      expect(named.size).toBe(total);
      // One message id for each user and source, which its destinations share.
      const messages = new Map(all.map(({ messageId, userId, sourceId }) => [messageId, `${userId} ${sourceId}`]));
      expect(messages.size).toBe(count * of.length);
      expect(new Set(messages.values()).size).toBe(messages.size);
    }),
  );
});
