import path from "node:path";
import { isTestFile } from "../../1-parse/input-files.ts";
import type { Host } from "../../host.ts";

/** Lists the test files in the folder of a configuration. */
export function testFilesOf(config: string, host: Host): readonly string[] {
  const folder = host.filesIn(config) === undefined ? path.dirname(config) : config;
  const names = (host.filesIn(folder) ?? []).filter(isTestFile);
  return names.filter((file) => path.normalize(path.dirname(file)) === path.normalize(folder));
}
