/**
 * For mutation testing: a property that has not noticed a damage within a second counts as one that does not notice it.
 */
import fc from "fast-check";

fc.configureGlobal({ ...fc.readConfigureGlobal(), interruptAfterTimeLimit: 1000 });
