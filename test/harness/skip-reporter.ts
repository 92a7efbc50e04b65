import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node";

/** Prints at the end of a run why tests were skipped, each reason once with the number of its tests. */
export class SkipReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = new Map<string, number>();
    // Tests that a filter (`-t`) excludes are skipped, too.
    const isFiltered = this.#vitest?.getGlobalTestNamePattern() !== undefined;
    for (const module of modules) {
      for (const test of module.children.allTests("skipped")) {
        const ofFile: unknown = Reflect.get(module.meta(), "skipped");
        const reason =
          reasonOf(test) ??
          (typeof ofFile === "string" ? ofFile : undefined) ??
          (isFiltered ? undefined : `no reason given in ${test.module.relativeModuleId}`);
        if (reason !== undefined) counts.set(reason, (counts.get(reason) ?? 0) + 1);
      }
    }
    if (counts.size === 0) return;
    console.log("\nSkipped:");
    for (const [reason, count] of [...counts].toSorted(([, a], [, b]) => b - a))
      console.log(`  ${String(count).padStart(4)}  ${reason}`);
  }
}

function reasonOf(test: TestCase): string | undefined {
  const result = test.result();
  const note = result.state === "skipped" ? result.note : undefined;
  // A suite that is skipped as a whole has its reason in its name.
  const [, inName] = /\(skipped: (.+?)\)(?: >|$)/.exec(test.fullName) ?? [];
  return note ?? inName;
}
