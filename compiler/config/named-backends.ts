import type { Diagnostics, Origin } from "../diagnostics/diagnostic.ts";
import { suggest } from "../diagnostics/suggestion.ts";
import { serviceOfBackend } from "../model/server-address.ts";
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
  const service = serviceOfBackend(name);
  const all = [...named.keys()];
  const names =
    service === undefined
      ? all.filter((each) => serviceOfBackend(each) === undefined)
      : all.flatMap((each) => serviceOfBackend(each) ?? []);
  const near = suggest(service ?? name, names);
  const params = {
    what: service === undefined ? `backend "${name}"` : `service "${service}"`,
    candidates: names.map((each) => `"${each}"`),
    place:
      service === undefined
        ? "add it to `backends` of the file, with its `name`"
        : "add it to `services` of the file, with `name`, `hostname` and `ports`",
    ...(near === undefined ? {} : { near }),
  };
  diagnostics.report("missing-reference", origin, params);
  return undefined;
}
