import { describe, it, type RunnerTestFile, type RunnerTestSuite, TestRunner } from "vitest";

/** Reason to skip tests that take minutes, unless all are asked for. */
export const NOT_LONG: string | undefined =
  process.env.GWC_LONG_TESTS === "1" ? undefined : "needs GWC_LONG_TESTS=1";

/**
 * Defines a suite that is skipped if something is missing; its name then says what. `undefined`: nothing is missing.
 *
 * @example describeUnless(missingApiServer())("a Gateway with an API server", () => {});
 */
export function describeUnless(
  missing: string | undefined,
): (name: string, body: () => void) => void {
  return (name, body) => {
    describe.runIf(missing === undefined)(reasoned(name, missing), body);
  };
}

/** Defines a test that is skipped in the same way. `timeout`: milliseconds. */
export function itUnless(
  missing: string | undefined,
): (name: string, body: () => void | Promise<void>, timeout?: number) => void {
  return (name, body, timeout) => {
    it.runIf(missing === undefined)(reasoned(name, missing), body, timeout);
  };
}

function reasoned(name: string, missing: string | undefined): string {
  return missing === undefined ? name : `${name} (skipped: ${missing})`;
}

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
  // The note is that of one test: the others of a hook's suite have the reason from their file.
  Object.assign(running.file?.meta ?? {}, { skipped: reason });
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
