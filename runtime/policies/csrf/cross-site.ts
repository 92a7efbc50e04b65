/** What of a request says whether a page of another site has sent it. */
export interface CrossSiteHead {
  /** The method, and what policies made of it, if anything. */
  readonly methods: readonly string[];
  /** In canonical form, with the port that the client named. */
  readonly host: string;
  /** `Sec-Fetch-Site`; `undefined` if it is absent. */
  readonly site: string | undefined;
  /** `Origin`; `undefined` if it is absent. */
  readonly origin: string | undefined;
}

/**
 * Says which page of another site has sent a request that may change something; `undefined` if none has. Safe methods pass
 * (RFC 9110 9.2.1), and so do requests that no browser sends (without Sec-Fetch-Site and Origin). Sec-Fetch-Site decides
 * where it is sent; else Origin has to be Host's. `allowed`: origins whose pages may send requests besides.
 */
export function crossSitePage(
  { methods, host, site, origin }: CrossSiteHead,
  allowed: ReadonlySet<string>,
): string | undefined {
  // What a page may send without harm is not made harmful before routing.
  if (methods.every(isSafe)) return undefined;
  if (site === "same-origin" || site === "none") return undefined;
  if (origin === undefined) return site === undefined ? undefined : `Sec-Fetch-Site ${site}`;
  if (allowed.has(origin) || (site === undefined && isOwn(origin, host))) return undefined;
  return `Origin ${origin}`;
}

function isSafe(method: string): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}

/** Whether an origin is Host's; the scheme is not compared, because TLS may end before the gateway. */
function isOwn(origin: string, host: string): boolean {
  // Several lines of Origin, joined, are no origin.
  const start = /^[a-z][a-z0-9+.-]*:\/\//.exec(origin)?.[0].length;
  if (start === undefined) return false;
  const port = origin.startsWith("https:") ? ":443" : ":80";
  const authority = origin.slice(start).toLowerCase();
  return authority === host || `${authority}${port}` === host;
}
