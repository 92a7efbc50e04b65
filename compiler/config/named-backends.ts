import type { Diagnostics, Origin } from "../diagnostics/diagnostic.ts";
import { suggest } from "../diagnostics/suggestion.ts";
import type { RouteBackend } from "./resources.ts";

/** Finds the backend of the file with this name; reports and returns `undefined` if there is none. */
export function findBackend(
  name: string,
  origin: Origin,
  named: ReadonlyMap<string, RouteBackend>,
  diagnostics: Diagnostics,
): RouteBackend | undefined {
  // agentgateway's `/NAME` has an empty namespace.
  const found = named.get(name) ?? named.get(name.replace(/^\//, ""));
  if (found !== undefined) return found;
  const candidates = [...named.keys()].map((each) => `"${each}"`);
  const near = suggest(name, [...named.keys()]);
  const params = {
    what: `backend "${name}"`,
    candidates,
    place: "add it to `backends` of the file, with its `name`",
    ...(near === undefined ? {} : { near }),
  };
  diagnostics.report("missing-reference", origin, params);
  return undefined;
}
