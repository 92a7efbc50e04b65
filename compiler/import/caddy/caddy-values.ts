import { literalPattern } from "../../model/literal-pattern.ts";
import type { OrderedPath } from "../proxy/ordered-routes.ts";
import type { DraftFields } from "../proxy/route-draft.ts";
import { celText, namesCredential, plainText, secretName } from "../proxy/texts.ts";

/** A path of a matcher of Caddy. */
export function caddyPath(text: string): OrderedPath {
  if (text === "*" || text === "/*") return { kind: "start", value: "/" };
  const stars = text.split("*").length - 1;
  if (stars === 0 && !text.includes("%")) return { kind: "exact", value: text };
  if (stars === 1 && text.endsWith("*")) return { kind: "start", value: text.slice(0, -1) };
  const parts = text.split("*").map(literalPattern);
  const isEnd = text.startsWith("*");
  // A star at the start or the end is anything; one in the middle stays within a segment.
  return {
    kind: "regex",
    value: isEnd ? parts.join(".*") : parts.join("[^/]*").replace(/\[\^\/\]\*$/, ".*"),
  };
}

/** A text with placeholders of Caddy: what is always the same, or an expression; undefined: it has others. */
export function caddyText(
  text: string,
): { readonly text: string } | { readonly expression: string } | undefined {
  const parts = text.split(/(?<!\$)(\{[^{}$\s]+\})/).filter((part) => part !== "");
  const written = parts.map((part) => {
    const [, name] = /^\{([^{}$\s]+)\}$/.exec(part) ?? [];
    if (name === undefined) return { text: part };
    const expression = PLACEHOLDERS[name.replace(/^http\.request\./, "")] ?? headerExpression(name);
    return expression === undefined ? undefined : { expression };
  });
  const known = written.filter((part) => part !== undefined);
  if (known.length < written.length) return undefined;
  const [only] = known;
  if (known.every((part) => "text" in part))
    return { text: known.map((part) => part.text).join("") };
  if (known.length === 1 && only !== undefined) return only;
  return {
    expression: known
      .map((part) => ("text" in part ? celText(part.text) : part.expression))
      .join(" + "),
  };
}

const HOST = 'request.host.regexReplace(":[0-9]+$", "")';

const PLACEHOLDERS: Readonly<Record<string, string>> = {
  host: HOST,
  hostport: "request.host",
  remote_host: "source.address",
  "remote.host": "source.address",
  client_ip: "source.address",
  "vars.client_ip": "source.address",
  "http.vars.client_ip": "source.address",
  scheme: "request.scheme",
  method: "request.method",
  path: "request.path",
  "uri.path": "request.path",
  uri: "request.pathAndQuery",
};

function headerExpression(name: string): string | undefined {
  const [, header] = /^(?:http\.request\.)?header\.([\w-]+)$/.exec(name) ?? [];
  return header === undefined ? undefined : `request.headers[${celText(header.toLowerCase())}]`;
}

/** Changes to headers: `X value`, `+X value`, `-X`. */
export interface HeaderChange {
  readonly name: string;
  readonly value: string | undefined;
  readonly how: "set" | "add" | "remove";
}

/** `header_up -X`, `header +X value`; undefined: gwc has no counterpart. */
export function headerChange(words: readonly string[]): HeaderChange | undefined {
  const [field = "", value, replacement] = words;
  if (replacement !== undefined) return undefined;
  const [, sign = "", name = ""] = /^([+\->?]?)([\w-]+):?$/.exec(field) ?? [];
  if (name === "" || sign === "?") return undefined;
  if (sign === "-") return value === undefined ? { name, value, how: "remove" } : undefined;
  if (value === undefined) return undefined;
  return { name, value, how: sign === "+" ? "add" : "set" };
}

/** Changes of requests as policies; those that have a variable are put into `notes`. */
export function requestHeaderPolicies(
  changes: readonly HeaderChange[],
  place: string,
  notes: string[],
): DraftFields {
  const modifier = emptyModifier();
  const { set, add, remove } = modifier;
  const expressions: Record<string, string> = {};
  const policies: Record<string, unknown> = {};
  for (const { name, value = "", how } of changes) {
    const key = name.toLowerCase();
    const text = caddyText(value);
    if (key === "host" && how === "set") {
      if (/upstream_hostport|upstream\.hostport|upstream\.host\}/.test(value))
        policies.hostRewrite = { mode: "Auto" };
      else if (text !== undefined && "text" in text) {
        policies.urlRewrite = { authority: { full: text.text } };
        policies.hostRewrite = undefined;
      } else policies.hostRewrite = { mode: "None" };
    } else if (how === "remove") remove.push(name);
    else if (text === undefined) {
      remove.push(name);
      notes.push(`${place}: the backend gets no ${name}: gwc does not know ${value}`);
    } else if ("expression" in text) {
      if (how === "add") notes.push(`${place}: ${name} is replaced, not added`);
      expressions[key] = text.expression;
    } else {
      const isSecret = namesCredential(name) && !/^\$\{\w+\}$/.test(text.text);
      const variable = secretName(name);
      if (isSecret)
        notes.push(`${place} may have a credential: put it into the variable ${variable}`);
      (how === "add" ? add : set)[name] = isSecret ? `\${${variable}}` : text.text;
    }
  }
  const written = withoutEmpty(modifier);
  if (written !== undefined) policies.requestHeaderModifier = written;
  if (Object.keys(expressions).length > 0)
    policies.transformations = { request: { set: expressions } };
  return policies;
}

/** Changes of responses as policies. */
export function responseHeaderPolicies(
  changes: readonly HeaderChange[],
  place: string,
  notes: string[],
): DraftFields {
  const modifier = emptyModifier();
  const { set, add, remove } = modifier;
  for (const { name, value = "", how } of changes) {
    const text = caddyText(value);
    if (how === "remove") remove.push(name);
    else if (text !== undefined && "text" in text) (how === "add" ? add : set)[name] = text.text;
    else notes.push(`${place}: the response header ${name} is left out`);
  }
  const written = withoutEmpty(modifier);
  return written === undefined ? {} : { responseHeaderModifier: written };
}

/** What a policy changes of headers. */
interface Modifier {
  readonly set: Record<string, string>;
  readonly add: Record<string, string>;
  readonly remove: string[];
}

function emptyModifier(): Modifier {
  return { set: {}, add: {}, remove: [] };
}

/** The parts that change something; undefined: nothing does. */
function withoutEmpty({ set, add, remove }: Modifier): DraftFields | undefined {
  const modifier = {
    ...(Object.keys(set).length > 0 && { set }),
    ...(Object.keys(add).length > 0 && { add }),
    ...(remove.length > 0 && { remove }),
  };
  return Object.keys(modifier).length > 0 ? modifier : undefined;
}

/** What Caddy tells servers of a client. */
export const FORWARDED: DraftFields = {
  transformations: {
    request: {
      set: {
        "x-forwarded-for": "source.address",
        "x-forwarded-proto": "request.scheme",
        "x-forwarded-host": "request.host",
      },
    },
  },
};

/** A redirect; undefined: gwc has no counterpart. */
export function redirectPolicies(to: string, status: number): DraftFields | undefined {
  const text = caddyText(to);
  if (text !== undefined && "text" in text)
    return { directResponse: { status, headers: { location: text.text } } };
  const [, scheme = "", host = ""] =
    /^(https?|\{scheme\}|\{http\.request\.scheme\}):\/\/([^/{}$]+|\{(?:http\.request\.)?host\}|\$\{\w+\})\{(?:http\.request\.)?uri\}$/.exec(
      to,
    ) ?? [];
  if (scheme === "") return undefined;
  return {
    requestRedirect: {
      ...(/^https?$/.test(scheme) && { scheme }),
      ...(!/^\{/.test(host) && { authority: { full: host } }),
      status,
    },
  };
}

/** `{$NAME:default}` and `{env.NAME}` stay variables: gwc reads them from the environment as well. No other text is one. */
export function caddyVariables(text: string): string {
  return plainText(text)
    .replace(/\{\$([A-Za-z_]\w*)(?::([^}]*))?\}/g, (_, name: string, fallback?: string) =>
      fallback === undefined ? `\${${name}}` : `\${${name}:-${fallback}}`,
    )
    .replace(/\{env\.([A-Za-z_]\w*)\}/g, "$${$1}");
}
