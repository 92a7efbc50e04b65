import { childOf, type Diagnostics, type Origin } from "../diagnostics/diagnostic.ts";
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
  if (service === undefined) {
    const names = all.filter((each) => serviceOfBackend(each) === undefined);
    reportMissing(`backend "${name}"`, name, names, BACKENDS, origin, diagnostics);
    return undefined;
  }
  const known = all.flatMap((each) => serviceOfBackend(each) ?? []);
  const ports = known.filter((each) => each.name === service.name);
  if (ports.length > 0) {
    const what = `port ${service.port} of service "${service.name}"`;
    const candidates = ports.map(({ port }) => String(port));
    diagnostics.report("missing-reference", childOf(origin, "port"), { what, candidates });
  } else {
    const names = [...new Set(known.map((each) => each.name))];
    const at = childOf(origin, "name");
    reportMissing(`service "${service.name}"`, service.name, names, SERVICES, at, diagnostics);
  }
  return undefined;
}

const BACKENDS = "add it to `backends` of the file, with its `name`";
const SERVICES = "add it to `services` of the file, with `name`, `hostname` and `ports`";

function reportMissing(
  what: string,
  name: string,
  names: readonly string[],
  place: string,
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  const near = suggest(name, names);
  const candidates = names.map((each) => `"${each}"`);
  const params = { what, candidates, place, ...(near === undefined ? {} : { near }) };
  diagnostics.report("missing-reference", origin, params);
}
