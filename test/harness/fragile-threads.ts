import { writeFileSync } from "node:fs";
import path from "node:path";
import type { Gateway } from "./gateway.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Loaded by every thread: ends one when a file requests it, as if it had run out of memory. */
const fragile = `
const { existsSync, rmSync } = require("node:fs");
const { isMainThread, workerData } = require("node:worker_threads");
if (!isMainThread) setInterval(() => {
  const file = "end-" + workerData?.index;
  if (!existsSync(file)) return;
  rmSync(file);
  process.exit(7);
}, 20).unref();
`;

/** How a gateway is run whose threads can be made to break down (`breakDown`). */
export function fragileThreads(threads: number) {
  return {
    file: { config: { workerThreads: threads } },
    folder: temporaryFolder({ "fragile.cjs": fragile }),
    env: { NODE_OPTIONS: "--require ./fragile.cjs" },
  };
}

/** Ends a thread as a lack of memory would. */
export function breakDown(gateway: Gateway, index: number | string): void {
  writeFileSync(path.join(gateway.folder, `end-${index}`), "");
}
