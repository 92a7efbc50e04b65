import type { Host } from "../../host.ts";
import {
  convertDirectives,
  type Directive,
  DirectiveProblem,
  type TakenDirectives,
} from "../directives/directive.ts";
import type { ImportDraft, ReadImport } from "../imported-text.ts";
import { siteFile } from "../proxy/site-file.ts";
import { NginxScope } from "./nginx-scope.ts";
import { type NginxSite, sitesOf } from "./nginx-server.ts";
import { streamNotes, streamsOf } from "./nginx-stream.ts";
import { readNginx } from "./nginx-syntax.ts";

/** Converts a file of nginx and its includes; returns the reason as a string if that is impossible. */
export function importNginx(file: string, text: string, host: Host): ReadImport | string {
  let directives: readonly Directive[];
  try {
    directives = readNginx(file, text, host);
  } catch (error) {
    if (error instanceof DirectiveProblem) return `is not an nginx configuration: ${error.message}`;
    throw error;
  }
  return convertDirectives(file, directives, convert);
}

function convert(directives: readonly Directive[], taken: TakenDirectives): ImportDraft | string {
  const blocks = directives.filter(({ name }) => name === "http");
  for (const each of blocks) taken.take(each, "alone");
  // A file of conf.d is included inside `http`.
  const isMain = directives.some(({ name }) => name === "http" || name === "stream");
  const inside = isMain ? blocks.flatMap(({ block = [] }) => block) : directives;
  const http = new NginxScope(inside, undefined, taken);
  const upstreams = inside.filter(({ name }) => name === "upstream");
  const servers = inside.filter(({ name }) => name === "server");
  const streams = streamsOf(
    directives.filter(({ name }) => name === "stream"),
    taken,
  );
  const hasStreams = streams.binds.length > 0;
  if (servers.length === 0 && !hasStreams)
    return (
      streams.refused[0] ??
      "has no server block: import the file that includes it, such as nginx.conf"
    );
  const sites = withDefaults(servers.flatMap((each) => sitesOf(each, http, upstreams, taken)));
  if (sites.length === 0 && !hasStreams) return "has no server with a port that gwc can open";
  const {
    value: { binds },
    notes,
  } = siteFile(sites, []);
  return {
    value: { binds: [...binds, ...streams.binds] },
    notes: [...notes, ...streamNotes(streams, binds.length)],
  };
}

/** Marks the default site of each port: the first one, unless another one has `default_server`. */
function withDefaults(sites: readonly NginxSite[]): readonly NginxSite[] {
  const defaults = [
    ...Map.groupBy(sites, ({ port, address }) => `${port} ${address}`).values(),
  ].map((group) => group.find(({ isDefaultServer }) => isDefaultServer) ?? group[0]);
  const seen = new Set<string>();
  return sites
    .map((site) => {
      // Of two servers with the same name, the first one gets its requests.
      const key = (name: string) => `${site.port} ${site.address} ${name}`;
      const hostnames = site.hostnames.filter((name) => !seen.has(key(name)));
      for (const name of hostnames) seen.add(key(name));
      return { ...site, hostnames, isDefault: defaults.includes(site) };
    })
    .filter(({ isDefault, hostnames }) => isDefault || hostnames.length > 0);
}
