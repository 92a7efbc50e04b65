import type { Exchange } from "../http/exchange.ts";

/** The target of a redirect; `undefined` members are taken from the request. */
export interface RedirectSettings {
  readonly scheme?: "http" | "https";
  readonly host?: string;
  readonly port?: number;
  /** 301, 302, 303, 307 or 308. */
  readonly status: number;
}

/** Redirects to the request's own target. */
export function redirect(exchange: Exchange, settings: RedirectSettings): void {
  redirectTo(exchange, settings, exchange.upstreamTarget);
}

/** Redirects to another target (`replacePath`, `replacePrefix`). */
export function redirectTo(exchange: Exchange, settings: RedirectSettings, target: string): void {
  exchange.record.reason = "Redirect";
  exchange.respond(settings.status, ["location", location(exchange, settings, target)]);
}

/**
 * Builds the location (Gateway API HTTPRequestRedirectFilter): a configured scheme without a port implies the scheme's
 * default port; otherwise the request's port is used.
 */
function location(exchange: Exchange, settings: RedirectSettings, target: string): string {
  const scheme = settings.scheme ?? exchange.scheme;
  const host = settings.host ?? exchange.hostname;
  // HTTP/1.0 without Host: only a path, which must not be read as a host.
  if (host === "") return target.replace(/^\/+/, "/");
  const port = settings.port ?? (settings.scheme === undefined ? portOf(exchange) : undefined);
  const isImplied = port === undefined || port === (scheme === "https" ? 443 : 80);
  return `${scheme}://${host}${isImplied ? "" : `:${port}`}${target}`;
}

/** Returns the port of the request's Host, by which the client reached the gateway. */
function portOf({ host, hostname }: Exchange): number | undefined {
  const port = host.slice(hostname.length + 1);
  return port === "" ? undefined : Number(port);
}
