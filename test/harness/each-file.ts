import { afterAll } from "vitest";
import { endStartedByHooks } from "./at-end.ts";

// It runs before each file of tests; a process runs many of them, and keeps the modules that they share.
afterAll(endStartedByHooks);
