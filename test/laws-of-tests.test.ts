import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "./harness/root.ts";

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
  "test/conformance/gateway-api-suite.test.ts",
  "test/kubernetes/apiserver.test.ts",
  // Only as root.
  "test/kubernetes/controller/faults.test.ts",
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
});
