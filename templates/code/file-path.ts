import type { MountedFile, Text } from "../../compiler/model/texts.ts";
import { code, literal } from "./code.ts";
import type { Code } from "./hole.ts";
import { imported } from "./names.ts";

const STARTUP_VALUES = "gwc/runtime/process/startup-values";
const OPEN = {
  secret: imported(STARTUP_VALUES, "secretFile"),
  configMap: imported(STARTUP_VALUES, "configMapFile"),
  path: imported(STARTUP_VALUES, "file"),
};

/** Writes the path of a file as the running gateway sees it. */
export function filePath(file: Text | MountedFile): Code {
  if (typeof file === "string" || file.kind === "env") return code`${OPEN.path}(${literal(file)})`;
  return code`${OPEN[file.kind]}(${literal(file.file)})`;
}
