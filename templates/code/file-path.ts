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
  if (isText(file)) return code`${OPEN.path}(${literal(file)})`;
  return code`${OPEN[file.kind]}(${literal(file.file)})`;
}

/** Whether a value is a string rather than a file that contains it. */
export function isText(value: Text | MountedFile): value is Text {
  return typeof value === "string" || value.kind === "env";
}
