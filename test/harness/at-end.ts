import { afterAll, onTestFinished, TestRunner } from "vitest";

/** What hooks of this file of tests started: it serves all its tests. */
const startedByHooks: (() => unknown)[] = [];

afterAll(async () => {
  for (const end of startedByHooks.reverse()) await end();
});

/** Ends something with the test that started it, or with the file of tests when a hook did. */
export function atEnd(end: () => unknown): void {
  if (TestRunner.getCurrentTest() === undefined) startedByHooks.push(end);
  else onTestFinished(async () => void (await end()));
}
