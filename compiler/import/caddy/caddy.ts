import type { Host } from "../../host.ts";
import {
  convertDirectives,
  type Directive,
  DirectiveProblem,
  type TakenDirectives,
} from "../directives/directive.ts";
import type { ImportDraft, ReadImport } from "../imported-text.ts";
import type { SiteDraft } from "../proxy/route-draft.ts";
import { siteFile } from "../proxy/site-file.ts";
import { addressOf, type CaddyAddress, sitesOfRoutes } from "./caddy-sites.ts";
import { caddyfileRoutes } from "./caddyfile.ts";
import { type Caddyfile, readCaddyfile } from "./caddyfile-syntax.ts";

/** Converts a Caddyfile and its imports; returns the reason as a string if that is impossible. */
export function importCaddyfile(file: string, text: string, host: Host): ReadImport | string {
  let read: Caddyfile;
  try {
    read = readCaddyfile(file, text, host);
  } catch (error) {
    if (error instanceof DirectiveProblem) return `is not a Caddyfile: ${error.message}`;
    throw error;
  }
  const options = { file, line: OPTIONS, name: "", words: [], block: read.options };
  return convertDirectives(file, [options, ...read.sites], convert);
}

/** Line of the block of global options, which no site has. */
const OPTIONS = 0;

function convert(all: readonly Directive[], taken: TakenDirectives): ImportDraft | string {
  for (const each of all) taken.take(each, "alone");
  const options = all.find(({ line }) => line === OPTIONS)?.block ?? [];
  const given = all.filter(({ line }) => line !== OPTIONS);
  const port = (name: string, other: number) => {
    const found = options.find((each) => each.name === name);
    if (found !== undefined) taken.take(found);
    return Number(found?.words[0] ?? other);
  };
  const [http, https] = [port("http_port", 80), port("https_port", 443)];
  const auto = options.find(({ name }) => name === "auto_https");
  const isBare =
    auto?.words.includes("off") === true || auto?.words.includes("disable_redirects") === true;
  if (auto !== undefined && isBare) taken.take(auto);
  const sites = given.map((each) => ({
    site: each,
    addresses: [each.name, ...each.words].map((one) => addressOf(one, http, https)),
  }));
  const wrong = sites
    .flatMap(({ addresses }) => addresses)
    .find((each) => typeof each === "string");
  if (typeof wrong === "string") return `has an address that cannot be imported: ${wrong}`;
  if (sites.length === 0) return "has no site";
  const found = sites.flatMap(({ site, addresses }) => {
    const known = addresses.filter((each) => typeof each !== "string");
    return siteOf(
      site,
      isBare ? known.map((each) => ({ ...each, redirectsFrom: undefined })) : known,
      taken,
    );
  });
  return siteFile(withoutTwins(found), []);
}

function siteOf(
  site: Directive,
  addresses: readonly CaddyAddress[],
  taken: TakenDirectives,
): readonly SiteDraft[] {
  const block = site.block ?? [];
  const tls = block.find(({ name }) => name === "tls");
  const [cert, key] = tls?.words ?? [];
  const isFile = tls !== undefined && cert !== undefined && key !== undefined;
  const notes = addresses.flatMap(({ host = "" }) => {
    const [, name] = /\$\{(\w+)/.exec(host) ?? [];
    return name === undefined
      ? []
      : `${taken.place(site)}: the host name is that of the variable ${name} when you build the gateway`;
  });
  const options = tls?.block ?? [];
  if (isFile) taken.take(tls, "alone");
  const routes = caddyfileRoutes(block, taken);
  // Client certificates have no counterpart, so the site is closed.
  const asks = options.find(({ name }) => name === "client_auth");
  const closedRoutes =
    asks === undefined
      ? routes
      : [
          {
            name: "all",
            matches: [],
            isTerminal: true,
            steps: [{ kind: "problem", text: `${taken.place(asks)}: client_auth` }],
          } as const,
        ];
  return sitesOfRoutes(addresses, closedRoutes, isFile ? { cert, key } : undefined, notes);
}

/** Drops redirects for hosts that have a plain HTTP site of their own. */
function withoutTwins(sites: readonly SiteDraft[]): readonly SiteDraft[] {
  const seen = new Set<string>();
  return sites.flatMap((site) => {
    const hostnames = site.hostnames.filter((host) => !seen.has(`${site.port} ${host}`));
    for (const host of hostnames) seen.add(`${site.port} ${host}`);
    return hostnames.length === 0 && !site.isDefault ? [] : [{ ...site, hostnames }];
  });
}
