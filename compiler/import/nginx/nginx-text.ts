import { celText } from "../proxy/texts.ts";

/** A string of nginx: constant, or computed by a CEL expression. */
export type NginxText =
  | { readonly kind: "constant"; readonly text: string }
  | { readonly kind: "expression"; readonly expression: string };

/** The server's name and port, for variables. */
export interface NginxNames {
  readonly serverName: string | undefined;
  readonly port: number;
}

/** Converts a string with `$name` and `${name}`; `undefined` if a variable is unknown. */
export function nginxText(text: string, names: NginxNames): NginxText | undefined {
  const parts = text.split(/(\$\w+|\$\{\w+\})/).filter((part) => part !== "");
  const isAlone = parts.length === 1;
  const written = parts.map((part): NginxText | undefined => {
    const [, name] = /^\$\{?(\w+)\}?$/.exec(part) ?? [];
    if (name === undefined) return { kind: "constant", text: part };
    if (name === "server_name" && names.serverName !== undefined)
      return { kind: "constant", text: names.serverName };
    if (name === "server_port") return { kind: "constant", text: String(names.port) };
    const expression = VARIABLES[name] ?? headerExpression(name, isAlone);
    return expression === undefined ? undefined : { kind: "expression", expression };
  });
  const known = written.filter((part) => part !== undefined);
  if (known.length < written.length) return undefined;
  if (known.every((part) => part.kind === "constant"))
    return { kind: "constant", text: known.map((part) => part.text).join("") };
  const [only] = known;
  if (isAlone && only !== undefined) return only;
  const sum = known.map((part) =>
    part.kind === "constant" ? celText(part.text) : bracketed(part.expression),
  );
  return { kind: "expression", expression: sum.join(" + ") };
}

/** CEL expressions for nginx variables. */
const VARIABLES: Readonly<Record<string, string>> = {
  host: 'request.host.regexReplace(":[0-9]+$", "")',
  http_host: "request.host",
  scheme: "request.scheme",
  request_uri: "request.pathAndQuery",
  uri: "request.path",
  document_uri: "request.path",
  request_method: "request.method",
  remote_addr: "source.address",
  realip_remote_addr: "source.address",
  remote_port: "string(source.port)",
  proxy_add_x_forwarded_for:
    '"x-forwarded-for" in request.headers ? request.headers["x-forwarded-for"] + ", " + source.address : source.address',
};

/** Converts `$http_x_team`. Used alone, an absent header fails the expression and omits the result, as nginx omits empty headers. */
function headerExpression(name: string, isAlone: boolean): string | undefined {
  if (!name.startsWith("http_")) return undefined;
  const key = celText(name.slice("http_".length).replaceAll("_", "-"));
  const value = `request.headers[${key}]`;
  return isAlone ? value : `${key} in request.headers ? ${value} : ""`;
}

function bracketed(expression: string): string {
  return expression.includes(" ? ") ? `(${expression})` : expression;
}
