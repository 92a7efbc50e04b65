import { code } from "./code.ts";
import type { Hole } from "./hole.ts";
import { imported } from "./names.ts";
import { bytes } from "./units.ts";

/** Writes the step that buffers the body. */
export function bufferStep(limit: number): Hole {
  const buffer = imported("gwc/runtime/http/buffer-body", "bufferBody");
  return code`if (!(await ${buffer}(exchange, ${bytes(limit)}))) return;`;
}
