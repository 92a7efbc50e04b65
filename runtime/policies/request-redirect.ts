import type { Exchange } from "../http/exchange.ts";

/** Where a redirect leads; undefined: as in the request. */
export interface RedirectSettings {
  readonly scheme: "http" | "https" | undefined;
  readonly host: string | undefined;
  readonly port: number | undefined;
  /** 301, 302, 303, 307 or 308. */
  readonly status: number;
}

/** Answers with a redirect to the request's own target. */
export function redirect(exchange: Exchange, settings: RedirectSettings): void {
  redirectTo(exchange, settings, exchange.upstreamTarget);
}

/** Answers with a redirect to a target (`replacePath`, `replacePrefix`). */
export function redirectTo(exchange: Exchange, settings: RedirectSettings, target: string): void {
  exchange.record.reason = "Redirect";
  exchange.respond(settings.status, ["location", location(exchange, settings, target)]);
}

/** Gateway API HTTPRequestRedirectFilter: a scheme without a port means the scheme's own port, else the request's stays. */
function location(exchange: Exchange, settings: RedirectSettings, target: string): string {
  const scheme = settings.scheme ?? exchange.scheme;
  const host = settings.host ?? exchange.hostname;
  // HTTP/1.0 without Host: a path alone, which must not read as a host.
  if (host === "") return target.replace(/^\/+/, "/");
  const port = settings.port ?? (settings.scheme === undefined ? portOf(exchange) : undefined);
  const isImplied = port === undefined || port === (scheme === "https" ? 443 : 80);
  return `${scheme}://${host}${isImplied ? "" : `:${port}`}${target}`;
}

/** The port of the request's Host: the one by which the client reached the gateway. */
function portOf({ host, hostname }: Exchange): number | undefined {
  const port = host.slice(hostname.length + 1);
  return port === "" ? undefined : Number(port);
}
