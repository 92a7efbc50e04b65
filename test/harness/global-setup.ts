import type { TestProject } from "vitest/node";
import { pruneCache } from "./bundle-cache.ts";
import { sourceDigest } from "./source-digest.ts";
import { writeOwnPackage } from "./write-own-package.ts";
import { writeOwnScripts } from "./write-own-scripts.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** See source-digest.ts. */
    readonly sourceDigest: string;
    /** The folder of own-script.ts. */
    readonly scripts: string;
  }
}

/** Runs once before all tests: reading the sources for each file of tests would take longer than some of them. */
export async function setup(project: TestProject): Promise<void> {
  const digest = sourceDigest();
  pruneCache(digest);
  await writeOwnPackage(digest);
  project.provide("sourceDigest", digest);
  project.provide("scripts", await writeOwnScripts());
}
