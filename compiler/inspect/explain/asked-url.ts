import { canonicalHost } from "../../../runtime/http/request-line.ts";
import type { Checked } from "../../compile.ts";
import type { BindNode } from "../../ir/program.ts";
import { holderOf } from "../routing/match-request.ts";

/** URL of a request that a user asks about, or the reason why the target is not one. */
export type AskedUrl =
  | { readonly kind: "url"; readonly url: URL }
  | { readonly kind: "problem"; readonly problem: string; readonly hint: string };

/**
 * Parses the target of a request: a URL, or `//host/path` and `/path` as `gwc diff` prints them. The latter are sent to
 * the only port whose listeners have the host.
 */
export function askedUrl(target: string, { programs }: Pick<Checked, "programs">): AskedUrl {
  // Browsers turn a backslash into a slash, curl sends it unchanged: the path is ambiguous.
  const isAmbiguous = target.includes("\\");
  if (!isAmbiguous && /^https?:/.test(target) && URL.canParse(target))
    return { kind: "url", url: new URL(target) };
  const rest = target.startsWith("//") ? target : `//localhost${target}`;
  if (isAmbiguous || !target.startsWith("/") || !URL.canParse(`http:${rest}`)) {
    const hint = `write https://${target.replace(/^[a-z]*:?\/\//i, "")}`;
    return { kind: "problem", problem: `"${target}" is not a URL`, hint };
  }
  const { hostname, port } = new URL(`http:${rest}`);
  if (port !== "") return { kind: "url", url: new URL(`http:${rest}`) };
  const binds = programs.flatMap((program) => program.binds);
  const having = target.startsWith("//") ? binds.filter((each) => hasHost(each, hostname)) : binds;
  const urls = [...new Set(having.map((bind) => urlOf(bind, rest)))];
  const [only = `http:${rest}`, second] = urls;
  if (second === undefined) return { kind: "url", url: new URL(only) };
  const problem = `several ports serve "${target}"`;
  return { kind: "problem", problem, hint: `name one: ${urls.slice(0, 5).join(", ")}` };
}

function hasHost(bind: BindNode, hostname: string): boolean {
  const host = canonicalHost(hostname);
  const holder = host === undefined ? undefined : holderOf(bind, host);
  return holder !== undefined && holder !== "passedOn";
}

function urlOf({ port, tls }: BindNode, rest: string): string {
  const url = new URL(`${tls === undefined ? "http" : "https"}:${rest}`);
  url.port = String(port);
  return url.href;
}
