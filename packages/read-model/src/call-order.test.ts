/** Rules of call-order.ts. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { CallOrder } from "./call-order.ts";

const isChange = (call: string): boolean => call.startsWith("change");

it("QO1, QO2: changes keep their order, and a question is answered before the changes that wait", async () => {
  const calls = fc.array(fc.boolean(), { minLength: 1, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(calls, calls, async (first, later) => {
      const made: string[] = [];
      const done = Promise.withResolvers<void>();
      const named = [...first, ...later].map((each, index) => `${each ? "change" : "question"} ${index}`);
      const order = new CallOrder<string>({
        isChange,
        run: (call) => {
          made.push(call);
          // A question that comes while a change is made waits for no further change.
          if (call === named.find(isChange)) for (const each of named.slice(first.length)) order.take(each);
          if (made.length === named.length) done.resolve();
        },
      });
      for (const each of named.slice(0, first.length)) order.take(each);
      const questions = named.slice(0, first.length).filter((call) => !isChange(call));
      expect(made).toEqual(questions);
      if (!first.some((each) => each)) return;
      await done.promise;
      expect(made.filter(isChange)).toEqual(named.filter(isChange));
      const laterQuestions = named.slice(first.length).filter((call) => !isChange(call));
      expect(made.slice(questions.length + 1, questions.length + 1 + laterQuestions.length)).toEqual(laterQuestions);
    }),
  );
});
