import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { root } from "./harness/root.ts";

/** An import of one module by another. */
export interface Import {
  readonly from: string;
  /** The imported module: a path from the root, or a package's name. */
  readonly to: string;
  readonly isType: boolean;
  readonly isDynamic: boolean;
}

/** Messages of protocols, as the generator wrote them (.ci/generate-grpc). */
const generatedMessages = "runtime/grpc/gen/";

/** The extension of Visual Studio Code, which is a program of another host. */
const extension = "templates/editor/";

/** The program of the admin page, which runs in browsers. */
const page = "compiler/run/admin/page/";

/** All modules that are written, or generated, here. */
export const sources = ["compiler", "templates", "runtime", "out"].flatMap((folder) =>
  globSync(`${folder}/**/*.ts`, { cwd: root })
    .map((file) => file.split(path.sep).join("/"))
    .filter(
      (file) => ![generatedMessages, extension, page].some((place) => file.startsWith(place)),
    ),
);

/** All that they import. */
export const imports = sources.flatMap(importsOf);

function importsOf(from: string): Import[] {
  const text = readFileSync(path.join(root, from), "utf8").replace(
    /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm,
    "",
  );
  const found: Import[] = [];
  const statements =
    /^\s*(?:import|export)\s+(type\s+)?((?:[\w$*]+\s*,?\s*)?(?:\{[^}]*\}|\*\s*as\s+\w+)?)\s*from\s*"([^"]+)"/gm;
  for (const [, type, names = "", to = ""] of text.matchAll(statements)) {
    const inner =
      /\{([^}]*)\}/
        .exec(names)?.[1]
        ?.split(",")
        .filter((name) => name.trim() !== "") ?? [];
    const onlyTypes = inner.length > 0 && inner.every((name) => /^\s*type\s/.test(name));
    found.push({
      from,
      to: target(from, to),
      isType: type !== undefined || onlyTypes,
      isDynamic: false,
    });
  }
  for (const [, to = ""] of text.matchAll(/\bimport\(\s*"([^"]+)"\s*\)/g)) {
    found.push({ from, to: target(from, to), isType: false, isDynamic: true });
  }
  return found;
}

function target(from: string, to: string): string {
  if (to.startsWith(".")) return path.posix.join(path.posix.dirname(from), to);
  if (to === "gwc/policy") return "runtime/policy/policy.ts";
  return to.startsWith("gwc/runtime/") ? `${to.slice("gwc/".length)}.ts` : to;
}

/** The folder of the repository that a module lies in. */
export function folderOf(module: string): string {
  return module.split("/")[0] ?? "";
}
