import { type RunnerTestFile, type RunnerTestSuite, TestRunner } from "vitest";

/** The file whose tests run. A holder, because hooks have no current test to skip. */
const running: { file: RunnerTestFile | undefined } = { file: undefined };

/** Notes the file of tests that begins. Called by the first hook of each file. */
export function noteFile(file: RunnerTestFile): void {
  running.file = file;
}

/**
 * Skips the current test and reports the reason next to its name. In a hook, skips all tests of the hook's suite. Throws an
 * error if no test runs yet, such as while a file is loaded.
 */
export function skip(reason: string): never {
  const test = TestRunner.getCurrentTest() ?? firstTest(running.file);
  test?.context.skip(reason);
  throw new Error(reason);
}

/** The runner accepts the signal to skip from any test of the file, also for a suite whose hook fails. */
function firstTest(suite: RunnerTestSuite | undefined): ReturnType<typeof currentTest> {
  for (const task of suite?.tasks ?? []) {
    const found = task.type === "test" ? task : firstTest(task);
    if (found !== undefined) return found;
  }
  return undefined;
}

const currentTest = () => TestRunner.getCurrentTest();
