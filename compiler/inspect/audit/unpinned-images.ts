import { startedServers } from "../../4-emit/image-commands.ts";
import { childOf, type Diagnostics } from "../../diagnostics/diagnostic.ts";
import type { NamedImage } from "../../ir/deployment.ts";
import type { Program } from "../../ir/program.ts";
import { startedImageAt } from "./container-command.ts";

/** Reports images that may be others whenever they are fetched: a digest names one for good, a tag does not. */
export function reportUnpinnedImages(program: Program, diagnostics: Diagnostics): void {
  const named = [...(program.deployment?.namedImages ?? []), ...startedImages(program)];
  for (const { image, origin } of named)
    if (!PINNED.test(image)) diagnostics.report("unpinned-image", origin, { image });
}

/** OCI image specification, descriptor: algorithms that are registered, and the hex digits of each. */
const PINNED = /@(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/;

/** Images of MCP servers that the gateway starts by a container runtime. */
function startedImages(program: Program): readonly NamedImage[] {
  return startedServers(program).flatMap(({ command, args, origin }) => {
    const at = startedImageAt(command, args);
    const image = at === undefined ? undefined : args[at];
    if (at === undefined || typeof image !== "string") return [];
    return [{ image, origin: childOf(origin, "args", at) }];
  });
}
