/** Each fault run has a short form, for every run of the tests, and a long one, for `npm run test:faults`. */
export const isLong = process.env["POSTHASTE_LONG_FAULTS"] === "true";
