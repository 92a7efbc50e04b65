import type { Directive } from "../directives/directive.ts";
import type { DraftFields } from "../proxy/route-draft.ts";
import { plainText } from "../proxy/texts.ts";
import { type NginxNames, nginxText } from "./nginx-text.ts";

/** Converts `return` to policies; `undefined` if gwc has no counterpart. */
export function returnPolicies(
  { words }: Directive,
  contentType: string,
  names: NginxNames,
): DraftFields | undefined {
  const [first = "", second] = words;
  const isUrl = /^(https?:|\$scheme)/.test(first);
  const status = isUrl ? 302 : Number(first);
  const text = isUrl ? first : second;
  if (!Number.isInteger(status) || status < 200 || status > 599) return undefined;
  if (status === 444 || status === 499) return undefined;
  if ([301, 302, 303, 307, 308].includes(status))
    return redirectPolicies(status, text ?? "", names);
  if (text === undefined) return { directResponse: { status } };
  const body = nginxText(text, names);
  const headers = { "content-type": contentType };
  if (body === undefined) return undefined;
  if (body.kind === "constant")
    return { directResponse: { status, headers, body: plainText(body.text) } };
  return { directResponse: { status, headers, bodyExpression: plainText(body.expression) } };
}

function redirectPolicies(
  status: number,
  text: string,
  names: NginxNames,
): DraftFields | undefined {
  const constant = nginxText(text, names);
  if (constant?.kind === "constant")
    return { directResponse: { status, headers: { location: plainText(constant.text) } } };
  const [, scheme = "", host = "", path = ""] =
    /^(https?|\$scheme):\/\/([^/$]+|\$\w+)(\$request_uri)?$/.exec(text) ?? [];
  const isOwn = host === "$host" || host === "$http_host";
  const name = isOwn ? undefined : nginxText(host, names);
  if (path === "" || (!isOwn && name?.kind !== "constant")) return undefined;
  return {
    requestRedirect: {
      ...(scheme !== "$scheme" && { scheme }),
      ...(name?.kind === "constant" && { authority: { full: plainText(name.text) } }),
      status,
    },
  };
}
