import type { Diagnostics, Origin } from "../diagnostics/diagnostic.ts";
import { suggest } from "../diagnostics/suggestion.ts";
import type { RouteBackend } from "./resources.ts";

/** The backend of the file that has this name; undefined without one (reported). */
export function findBackend(
  name: string,
  origin: Origin,
  named: ReadonlyMap<string, RouteBackend>,
  diagnostics: Diagnostics,
): RouteBackend | undefined {
  const found = named.get(name);
  if (found !== undefined) return found;
  const candidates = [...named.keys()].map((each) => `"${each}"`);
  const near = suggest(name, [...named.keys()]);
  const params = {
    what: `backend "${name}"`,
    candidates,
    place: "what routes share stands under `backends` of the file, each with its `name`",
    ...(near === undefined ? {} : { near }),
  };
  diagnostics.report("missing-reference", origin, params);
  return undefined;
}
