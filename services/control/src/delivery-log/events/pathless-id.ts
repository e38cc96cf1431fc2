/** Message ids that no path can hold: HTTP clients remove `.` and `..` from a path. */
import { z } from "zod";

export const pathlessId = z.strictObject({
  messageId: z.string().optional().describe("In place of the path's, for one that no path can hold: `.` and `..`."),
});
