import { canonicalHost } from "../routing/canonical-host.ts";
import type { RequestFacts, RequestFault } from "./validate-request.ts";

/** A target in absolute form, taken apart (RFC 9112 3.2.2). */
export interface AbsoluteForm {
  /** Host and port as written, lower case. */
  readonly authority: string;
  /** The target in origin form. */
  readonly target: string;
}

/**
 * Reads what clients send to a proxy that they know of: `http://host/path`. Undefined: it is something else, or `https`,
 * which asks for a tunnel.
 */
export function readAbsoluteForm(target: string): AbsoluteForm | undefined {
  const parts = /^http:\/\/([^/?#@\\]+)((?:[/?].*)?)$/i.exec(target);
  if (parts === null) return undefined;
  const [, authority = "", rest = ""] = parts;
  return { authority: authority.toLowerCase(), target: rest.startsWith("/") ? rest : `/${rest}` };
}

/**
 * The facts of a request in absolute form. Its target names the host, and Host has to name the same one: who goes by the
 * other one of the two must not get another response.
 */
export function absoluteFacts(
  facts: RequestFacts | RequestFault,
  { authority }: AbsoluteForm,
): RequestFacts | RequestFault {
  if (!("host" in facts)) return facts;
  const named = canonicalHost(authority);
  if (named === undefined) return { status: 400, detail: "bad host in target" };
  const host = facts.host === "" ? named : facts.host;
  return withoutPort(host) === withoutPort(named) ? { ...facts, host } : twoHosts;
}

const twoHosts: RequestFault = { status: 400, detail: "target and Host name different hosts" };

/** The facts of CONNECT: its target names host and port (RFC 9112 3.2.3), and Host, where there is one, the same host. */
export function authorityFacts(
  facts: RequestFacts | RequestFault,
  target: string,
): RequestFacts | RequestFault {
  if (!("host" in facts)) return facts;
  const named = /:[0-9]{1,5}$/.test(target) ? canonicalHost(target.toLowerCase()) : undefined;
  if (named === undefined) return { status: 400, detail: "a tunnel needs a host and a port" };
  const { host } = facts;
  const isSame = host === "" || host === named || host === named.replace(/:[0-9]+$/, "");
  return isSame ? { ...facts, host: named } : twoHosts;
}

/** The port of `http` is the same as none (RFC 3986 6.2.3). */
function withoutPort(authority: string): string {
  return authority.replace(/:(?:80)?$/, "");
}
