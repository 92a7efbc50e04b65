import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/harness/longest-first.ts";

/** Checks what all others compiled; beside it runs one that compiles nothing for it and takes as long. */
const LAST = [
  "test/compiler/generated-types.test.ts",
  "test/compiler/fields/kubernetes-fields.test.ts",
];

export default defineConfig({
  test: {
    globalSetup: ["test/harness/global-setup.ts"],
    setupFiles: ["test/harness/each-file.ts"],
    // A process runs many files of tests and loads the compiler once; each-file.ts ends what one of them started.
    isolate: false,
    // The validator of all fields at once is a function whose optimization by this compiler of V8's takes 8 GB.
    // Compilers make much that is soon forgotten: with more room for it, less of it is moved.
    execArgv: ["--no-maglev", "--max-semi-space-size=64"],
    // Only a failure waits that long, and a busy machine may be slow.
    testTimeout: 120_000,
    // esbuild's collector of garbage takes a third of what hundreds of bundles cost. What Python has compiled it keeps, even
    // where the environment forbids it: compiling an SDK takes several times as long as loading it.
    env: { GOGC: "400", PYTHONDONTWRITEBYTECODE: "" },
    // The first one that needs Python installs the packages of all.
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // Most tests wait for processes rather than compute: two processors are busy with five.
    maxWorkers: 5,
    sequence: { sequencer: LongestFirst },
    // Servers under test print much; what counts is there when a test fails.
    silent: "passed-only",
    projects: [
      { extends: true, test: { name: "all", include: ["test/**/*.test.ts"], exclude: LAST } },
      {
        extends: true,
        test: { name: "last", include: LAST, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
