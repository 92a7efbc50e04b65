import { onTestFinished, TestRunner } from "vitest";

/** Cleanup of what hooks of a test file started for all of its tests. */
const startedByHooks: (() => unknown)[] = [];

/** Ends something with the test that started it, or with the file of tests when a hook did. */
export function atEnd(end: () => unknown): void {
  if (TestRunner.getCurrentTest() === undefined) startedByHooks.push(end);
  else onTestFinished(async () => void (await end()));
}

/** Ends what hooks of this file of tests started, the last one first. */
export async function endStartedByHooks(): Promise<void> {
  for (const end of startedByHooks.splice(0).reverse()) await end();
}
