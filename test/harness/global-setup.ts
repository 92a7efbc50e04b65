import type { TestProject } from "vitest/node";
import { pruneCache } from "./bundle-cache.ts";
import { sourceDigest } from "./source-digest.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** See source-digest.ts. */
    readonly sourceDigest: string;
  }
}

/** Runs once before all tests: reading the sources for each file of tests would take longer than some of them. */
export function setup(project: TestProject): void {
  const digest = sourceDigest();
  pruneCache(digest);
  project.provide("sourceDigest", digest);
}
