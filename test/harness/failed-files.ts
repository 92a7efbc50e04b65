import { writeFileSync } from "node:fs";
import type { Reporter, SerializedError, TestModule } from "vitest/node";

/**
 * Writes the files with failed tests to a file, one per line, for `.ci/run`. Writes none of them if the run also failed
 * for a reason that a second run of these files would not show.
 */
export class FailedFiles implements Reporter {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const failed = modules.filter((module) => module.state() === "failed");
    // Tests of the project "last" compare what all other files left.
    const repeatable = errors.length === 0 && failed.every(({ project }) => project.name === "all");
    const files = repeatable ? failed.map((module) => `${module.relativeModuleId}\n`) : [];
    writeFileSync(this.#file, files.join(""));
  }
}
