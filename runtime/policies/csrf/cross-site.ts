/** The parts of a request that tell whether a page of another site has sent it. */
export interface CrossSiteHead {
  /** The original method, and the method after policies have changed it. */
  readonly methods: readonly string[];
  /** In canonical form, with the port that the client named. */
  readonly host: string;
  /** `Sec-Fetch-Site`; `undefined` if it is absent. */
  readonly site: string | undefined;
  /** `Origin`; `undefined` if it is absent. */
  readonly origin: string | undefined;
}

/**
 * Describes the page of another site that has sent an unsafe request; `undefined` if there is no such page. Safe methods
 * pass (RFC 9110 9.2.1), and so do requests that no browser sends (without Sec-Fetch-Site and Origin). Sec-Fetch-Site
 * decides if it is present; otherwise Origin must match Host. `allowed`: further origins whose pages may send requests.
 */
export function crossSitePage(
  { methods, host, site, origin }: CrossSiteHead,
  allowed: ReadonlySet<string>,
): string | undefined {
  // Both methods must be safe: policies may have changed it before routing.
  if (methods.every(isSafe)) return undefined;
  if (site === "same-origin" || site === "none") return undefined;
  if (origin === undefined) return site === undefined ? undefined : `Sec-Fetch-Site ${site}`;
  if (allowed.has(origin) || (site === undefined && isOwn(origin, host))) return undefined;
  return `Origin ${origin}`;
}

function isSafe(method: string): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}

/** Whether an origin matches Host. The scheme is not compared, because TLS may end before the gateway. */
function isOwn(origin: string, host: string): boolean {
  // Repeated Origin headers, joined, are not a valid origin.
  const start = /^[a-z][a-z0-9+.-]*:\/\//.exec(origin)?.[0].length;
  if (start === undefined) return false;
  const port = origin.startsWith("https:") ? ":443" : ":80";
  const authority = origin.slice(start).toLowerCase();
  return authority === host || `${authority}${port}` === host;
}
