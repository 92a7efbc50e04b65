import type { Host } from "../../host.ts";
import { type Directive, DirectiveProblem, TakenDirectives } from "../directives/directive.ts";
import type { ImportDraft, LeftPart } from "../imported-text.ts";
import { siteFile } from "../proxy/site-file.ts";
import { NginxScope } from "./nginx-scope.ts";
import { type NginxSite, sitesOf } from "./nginx-server.ts";
import { readNginx } from "./nginx-syntax.ts";

/** A file of nginx, with what it includes; a string is why nothing can be made of it. */
export function importNginx(
  file: string,
  text: string,
  host: Host,
): { readonly draft: ImportDraft; readonly left: readonly LeftPart[] } | string {
  let directives: readonly Directive[];
  try {
    directives = readNginx(file, text, host);
  } catch (error) {
    if (error instanceof DirectiveProblem) return `is no file of nginx: ${error.message}`;
    throw error;
  }
  const taken = new TakenDirectives(file);
  const blocks = directives.filter(({ name }) => name === "http");
  for (const each of blocks) taken.take(each, "alone");
  // A file of conf.d stands in `http` already.
  const inside = blocks.length > 0 ? blocks.flatMap(({ block = [] }) => block) : directives;
  const http = new NginxScope(inside, undefined, taken);
  const upstreams = inside.filter(({ name }) => name === "upstream");
  const servers = inside.filter(({ name }) => name === "server");
  if (servers.length === 0) return "has no server: it is no file of nginx that serves HTTP";
  const sites = withDefaults(servers.flatMap((each) => sitesOf(each, http, upstreams, taken)));
  if (sites.length === 0) return "has no server with a port that gwc can open";
  return { draft: siteFile(sites, []), left: taken.left(directives) };
}

/** The first server of a port has the requests for unknown hosts, unless another one says that it has. */
function withDefaults(sites: readonly NginxSite[]): readonly NginxSite[] {
  const defaults = [
    ...Map.groupBy(sites, ({ port, address }) => `${port} ${address}`).values(),
  ].map((group) => group.find(({ saysDefault }) => saysDefault) ?? group[0]);
  const seen = new Set<string>();
  return sites
    .map((site) => {
      // Of two servers of a name the first has its requests.
      const key = (name: string) => `${site.port} ${site.address} ${name}`;
      const hostnames = site.hostnames.filter((name) => !seen.has(key(name)));
      for (const name of hostnames) seen.add(key(name));
      return { ...site, hostnames, isDefault: defaults.includes(site) };
    })
    .filter(({ isDefault, hostnames }) => isDefault || hostnames.length > 0);
}
