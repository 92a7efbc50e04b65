import { registerHooks } from "node:module";

/** Files that are imported in the place of modules, by the URL of the module. */
const fileOfModule = new Map<string, string>();
let isHooked = false;

/**
 * While `load` imports, each of these modules (URLs) is the file (a URL) beside it, which Node.js evaluates once however many
 * modules it stands for. Links in a folder would do the same, and take most of the time of a folder of thousands.
 */
export async function withModulesFromFiles<Loaded>(
  files: ReadonlyMap<string, string>,
  load: () => Promise<Loaded>,
): Promise<Loaded> {
  if (files.size === 0) return load();
  if (!isHooked) {
    isHooked = true;
    registerHooks({
      resolve: (specifier, context, next) => {
        const file = fileOf(specifier, context.parentURL);
        return file === undefined ? next(specifier, context) : { url: file, shortCircuit: true };
      },
    });
  }
  for (const [url, file] of files) fileOfModule.set(url, file);
  try {
    return await load();
  } finally {
    for (const url of files.keys()) fileOfModule.delete(url);
  }
}

function fileOf(specifier: string, parent: string | undefined): string | undefined {
  if (fileOfModule.size === 0 || parent === undefined || !/^\.{1,2}\//.test(specifier))
    return undefined;
  return fileOfModule.get(new URL(specifier, parent).href);
}
