import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "./harness/root.ts";
import { FULL, QUICK, tierOf } from "./tiers.ts";

/** A program of the machine that is started by its bare name, without asking whether it is there. */
const startedUnasked =
  /(?<![.\w])(?:execFile|execFileSync|spawn|spawnSync|execSync|TestProcess|promisify\(execFile\))\(\s*"(?!tsc")([\w.-]+)"/g;

/** The same in a file whose `run` is Node's. */
const runUnasked = /(?<![.\w])run\(\s*"([\w.-]+)"/g;

/** These ask themselves, each in a function that says what is missing. */
const ASKED = [
  "test/harness/limit-service.ts",
  "test/harness/pod-network.ts",
  "test/harness/process-kubelet.ts",
  "test/harness/provider-schemas/write.ts",
  "test/conformance/suite-in-network.ts",
  "test/kubernetes/apiserver.test.ts",
  // Only as root.
  "test/kubernetes/controller/faults.test.ts",
];

/** A test that is skipped without the functions that put the reason into its name or its note. */
const SKIPPED = /\b(?:it|test|describe)\.(?:skip|skipIf|runIf|todo)\b|\.each\b.*\.skip\b/g;

/** A wait of more than 200 ms, whatever happens meanwhile. */
const LONG_WAIT =
  /\bpause\((?:2(?!00\b)\d\d|[3-9]\d\d|\d{4,}|\d+_\d+)\)|setTimeout\(\w+, (?:2(?!00\b)\d\d|[3-9]\d\d|\d{4,}|\d+_\d+)\)/g;

/** Waits that are the subject of the test: a time of the configuration is over, or nothing happens in that time. */
const LONG_WAITS: Readonly<Record<string, number>> = {
  "test/backends/backend-policies.test.ts": 1,
  "test/cli/run.test.ts": 1,
  "test/http/forward.test.ts": 1,
  "test/http/http2.test.ts": 1,
  "test/mcp/reload-lists.test.ts": 1,
  "test/policies/timeout.test.ts": 1,
};

/** A poll of less than a minute, or a test that may take less than two: the configuration's limits are for busy machines. */
const HASTY =
  /\.poll\([^;]*?\btimeout: (?:\d{1,3}|[1-5]?\d_?\d{3})\b|^ *\}, (?:\d{1,2}_?\d{3}|1[01]\d_?\d{3})\);$/gm;

/** Tests of the quick tier that start a process all the same. */
const STARTING: readonly string[] = [
  "test/compiler/docs.test.ts",
  "test/compiler/guides.test.ts",
  "test/compiler/hidden-characters.test.ts",
  "test/compiler/quantities.test.ts",
  "test/compiler/url-variables.test.ts",
];

function startedIn(file: string): readonly string[] {
  const text = readFileSync(path.join(root, file), "utf8");
  const lineAt = (index: number) => text.slice(0, index).split("\n").length;
  const found = [...text.matchAll(startedUnasked)];
  if (text.includes("run = promisify(execFile)")) found.push(...text.matchAll(runUnasked));
  return found.map(({ index, 1: name }) => `${file}:${lineAt(index)}: use program("${name}")`);
}

describe("tests", () => {
  it("ask for each program of the machine before they start it", () => {
    const files = globSync("test/**/*.ts", { cwd: root }).filter(
      (file) => !file.startsWith("test/bench/") && !ASKED.includes(file),
    );
    expect(files.flatMap(startedIn)).toEqual([]);
  });

  it("give the reason if they are skipped (describeUnless, itUnless, skip of the harness)", () => {
    const files = globSync("test/**/*.ts", { cwd: root }).filter(
      (file) => !["test/harness/skip.ts", "test/laws-of-tests.test.ts"].includes(file),
    );
    const silent = files.filter((file) =>
      readFileSync(path.join(root, file), "utf8").match(SKIPPED),
    );
    expect(silent).toEqual([]);
  });

  it("wait for a fixed time of more than 200 ms only to show that nothing happens or that a time is over", () => {
    const { exclude } = tierOf("standard");
    const full = new Set(exclude.flatMap((pattern) => globSync(pattern, { cwd: root })));
    const files = globSync("test/**/*.test.ts", { cwd: root }).filter((file) => !full.has(file));
    const found = files.flatMap((file) => {
      const text = readFileSync(path.join(root, file), "utf8");
      const waits = [...text.matchAll(LONG_WAIT)].length;
      return waits === (LONG_WAITS[file] ?? 0) ? [] : [`${file}: ${waits}`];
    });
    expect(found).toEqual([]);
  });

  it("do not give up sooner than the configuration says", () => {
    const hasty = globSync("test/**/*.test.ts", { cwd: root }).filter((file) =>
      readFileSync(path.join(root, file), "utf8").match(HASTY),
    );
    expect(hasty).toEqual([]);
  });
});

describe("the tiers", () => {
  it("name files that exist", () => {
    const unused = [...QUICK, ...FULL].filter(
      (pattern) => globSync(`test/${pattern}`, { cwd: root }).length === 0,
    );
    expect(unused).toEqual([]);
  });

  it("start no process in the quick one, but for a reasoned few", () => {
    const { include, exclude } = tierOf("quick");
    const left = new Set(exclude.flatMap((pattern) => globSync(pattern, { cwd: root })));
    const files = include
      .flatMap((pattern) => globSync(pattern, { cwd: root }))
      .filter((file) => !left.has(file));
    const starting = files.filter((file) =>
      /harness\/(?:gateway|gwc|test-process|program|tool)\.ts"/.test(
        readFileSync(path.join(root, file), "utf8"),
      ),
    );
    expect(starting.toSorted()).toEqual(STARTING);
  });
});
