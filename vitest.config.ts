import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Most tests wait for processes rather than compute.
    maxWorkers: 3,
    // Servers under test print much; what counts is there when a test fails.
    silent: "passed-only",
  },
});
