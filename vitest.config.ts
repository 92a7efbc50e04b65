import { defineConfig } from "vitest/config";
import { FailedFiles } from "./test/harness/failed-files.ts";
import { LongestFirst } from "./test/harness/longest-first.ts";
import { PATIENCE } from "./test/harness/patience.ts";
import { SkipReporter } from "./test/harness/skip-reporter.ts";
import { tierOf } from "./test/tiers.ts";

/** Compares what all other files compiled; next to it runs a file of the same length that adds nothing to compare. */
const LAST = [
  "test/compiler/generated-types.test.ts",
  "test/compiler/fields/kubernetes-fields.test.ts",
];

export default defineConfig(({ mode }) => {
  const { include, exclude } = tierOf(mode);
  const failedFiles = process.env.GWC_FAILED_FILES;
  return {
    test: {
      globalSetup: ["test/harness/global-setup.ts"],
      setupFiles: ["test/harness/each-file.ts"],
      // A process runs many files of tests and loads the compiler once; each-file.ts ends what one of them started.
      isolate: false,
      reporters: [
        "default",
        new SkipReporter(),
        ...(failedFiles === undefined ? [] : [new FailedFiles(failedFiles)]),
      ],
      // The validator of all fields at once is a function whose optimization by this compiler of V8's takes 8 GB.
      // Compilers make much that is soon forgotten: with more room for it, less of it is moved.
      // The validator of all fields takes 3 GB, and Node.js allows a process 4 GB by default.
      execArgv: ["--no-maglev", "--max-semi-space-size=64", "--max-old-space-size=6144"],
      // Only a failure waits that long, and a busy machine may be slow.
      testTimeout: 300_000,
      // esbuild's collector of garbage takes a third of what hundreds of bundles cost. What Python has compiled it keeps, even
      // where the environment forbids it: compiling an SDK takes several times as long as loading it.
      env: { GOGC: "400", PYTHONDONTWRITEBYTECODE: "" },
      // The first one that needs Python installs the packages of all.
      hookTimeout: 300_000,
      expect: { poll: { timeout: PATIENCE } },
      // Most tests wait for processes rather than compute: two processors are busy with five.
      maxWorkers: 5,
      sequence: { sequencer: LongestFirst },
      // Servers under test print much; what counts is there when a test fails.
      silent: "passed-only",
      projects: [
        {
          extends: true,
          test: { name: "all", include: [...include], exclude: [...exclude, ...LAST] },
        },
        {
          extends: true,
          test: { name: "last", include: LAST, exclude: [...exclude], sequence: { groupOrder: 1 } },
        },
      ],
    },
  };
});
