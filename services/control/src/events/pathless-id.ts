/** Message ids that no path can hold: clients take `.` and `..` out of it. */
import { z } from "zod";

export const pathlessId = z.strictObject({
  messageId: z.string().optional().describe("In place of the path's, for one that no path can hold: `.` and `..`."),
});
