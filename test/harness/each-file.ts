import { afterAll, beforeAll } from "vitest";
import { endStartedByHooks } from "./at-end.ts";
import { noteFile } from "./skip.ts";

// It runs before each file of tests; a process runs many of them, and keeps the modules that they share.
// biome-ignore lint/correctness/noEmptyPattern: vitest refuses a first parameter without braces.
beforeAll(({}, { file }) => noteFile(file));
afterAll(endStartedByHooks);
