/**
 * Makes the damages of one file, each by its description, a text that stands in the file once, and the text in its
 * place. One of `tests` must turn red for each.
 */
export const damagesOf =
  (file, ...tests) =>
  (damage, from, to) => ({ damage, file, from, to, tests });
