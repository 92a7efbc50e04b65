#!/usr/bin/env node
// The executable. Plain JavaScript, so that an old Node.js can still say what it lacks, and so that the sources' types
// are stripped once and not at every start: the compile cache keeps the result.
import module from "node:module";

const NEEDED = 24;

if (Number.parseInt(process.versions.node, 10) < NEEDED) {
  process.stderr.write(
    `error: gwc needs Node.js ${NEEDED}, and this is ${process.versions.node}\n`,
  );
  process.exitCode = 2;
} else {
  module.enableCompileCache();
  await import("./cli.ts");
}
