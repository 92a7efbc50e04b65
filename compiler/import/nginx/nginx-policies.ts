import type { Directive } from "../directives/directive.ts";
import type { DraftFields } from "../proxy/route-draft.ts";
import { addressTest, namesCredential, plainText, secretName } from "../proxy/texts.ts";
import type { NginxScope } from "./nginx-scope.ts";
import { type NginxNames, nginxText } from "./nginx-text.ts";

/** Parts of a route: policies, notes for the user, and reasons to close the route. */
export interface NginxPart {
  readonly policies: DraftFields;
  readonly notes: readonly string[];
  readonly problems: readonly string[];
}

/** Converts access control: `auth_basic`, `allow` and `deny`, `limit_req`. */
export function accessPart(
  scope: NginxScope,
  zones: readonly Directive[],
  place: PlaceName,
): NginxPart {
  const policies: Record<string, unknown> = {};
  const notes: string[] = [];
  const problems: string[] = [];
  const rules = scope.all("allow", "deny");
  const isAny = scope.word("satisfy") === "any";
  const realm = scope.word("auth_basic");
  const users = scope.word("auth_basic_user_file");
  const hasLogin = realm !== undefined && realm !== "off";
  if (hasLogin && users === undefined) problems.push("auth_basic has no auth_basic_user_file");
  if (hasLogin && users !== undefined) {
    if (/\$/.test(realm + users)) problems.push("auth_basic has a variable");
    policies.basicAuth = { realm, htpasswd: { file: plainText(users) } };
  }
  if (isAny && hasLogin && rules.length > 0)
    problems.push("satisfy any: either an address or a password is enough");
  const condition = addressCondition(rules);
  if (typeof condition === "string") policies.authorization = { rules: [{ require: condition }] };
  else if (condition !== undefined)
    problems.push(`${place(condition)}: ${condition.words.join(" ")}`);
  const limits = scope.all("limit_req").map((each) => limitOf(each, zones));
  scope.all("limit_req_status");
  if (limits.some((each) => each === undefined))
    problems.push("limit_req with a key or zone that gwc does not support");
  else if (limits.length > 0) {
    policies.localRateLimit = limits;
    notes.push(
      "nginx counts all locations of a zone together and answers 503; in gwc each route counts separately and answers 429",
    );
  }
  return { policies, notes, problems };
}

/** Formats the location of a directive. */
export type PlaceName = (directive: Directive) => string;

/** Converts first-match `allow` and `deny` rules to one condition; returns the directive that has no counterpart. */
export function addressCondition(rules: readonly Directive[]): string | Directive | undefined {
  let condition = "true";
  for (const rule of rules.toReversed()) {
    const [who = ""] = rule.words;
    const isAllowed = rule.name === "allow";
    if (who === "all") condition = String(isAllowed);
    else {
      const test = addressTest(who);
      if (test === undefined) return rule;
      if (condition === String(isAllowed)) continue;
      if (isAllowed) condition = condition === "false" ? test : `${test} || (${condition})`;
      else condition = condition === "true" ? `!${test}` : `!${test} && (${condition})`;
    }
  }
  return condition === "true" ? undefined : condition;
}

/** `limit_req zone=a burst=20` with `limit_req_zone $binary_remote_addr zone=a:10m rate=10r/s`. */
function limitOf({ words }: Directive, zones: readonly Directive[]): DraftFields | undefined {
  const name = words.find((word) => word.startsWith("zone="))?.slice("zone=".length);
  const zone = zones.find((each) => each.words.some((word) => word.startsWith(`zone=${name}:`)));
  const rate = zone?.words.find((word) => word.startsWith("rate="));
  const [, count, unit] = /^rate=(\d+)r\/([sm])$/.exec(rate ?? "") ?? [];
  const key = { $binary_remote_addr: "source.address", $remote_addr: "source.address" }[
    zone?.words[0] ?? ""
  ];
  if (count === undefined || key === undefined) return undefined;
  const burst = words.find((word) => word.startsWith("burst="))?.slice("burst=".length);
  return {
    requests: Number(count),
    unit: unit === "s" ? "Seconds" : "Minutes",
    ...(burst !== undefined && { burst: Number(burst) }),
    key,
  };
}

/** Headers of requests and responses. */
export function headersPart(scope: NginxScope, names: NginxNames, place: PlaceName): NginxPart {
  const notes: string[] = [];
  const set: Record<string, string> = {};
  const remove: string[] = [];
  const expressions: Record<string, string> = {};
  const policies: Record<string, unknown> = { hostRewrite: { mode: "Auto" } };
  for (const each of scope.all("proxy_set_header")) {
    const [name = "", value = ""] = each.words;
    const key = name.toLowerCase();
    // gwc sets hop-by-hop headers itself and forwards upgrades.
    if (key === "connection" || key === "upgrade") continue;
    const text = nginxText(value, names);
    if (key === "host") {
      Object.assign(policies, hostPart(value, names, notes, place(each)));
      // Browsers omit these two ports; $host never includes a port.
      if (value === "$host" && ![80, 443].includes(names.port))
        notes.push(
          `${place(each)}: the Host that the backend sees includes the port ${names.port}`,
        );
      continue;
    }
    if (text === undefined) {
      remove.push(name);
      notes.push(
        `${place(each)}: ${name} is removed for the backend, because gwc does not support ${value}`,
      );
    } else if (text.kind === "expression") expressions[key] = plainText(text.expression);
    else if (text.text === "") remove.push(name);
    else if (namesCredential(name)) {
      set[name] = `\${${secretName(name)}}`;
      notes.push(
        `${place(each)} may contain a credential: put it into the variable ${secretName(name)}`,
      );
    } else set[name] = plainText(text.text);
  }
  const request = {
    ...(Object.keys(set).length > 0 && { set }),
    ...(remove.length > 0 && { remove }),
  };
  if (Object.keys(expressions).length > 0)
    policies.transformations = { request: { set: expressions } };
  if (Object.keys(request).length > 0) policies.requestHeaderModifier = request;
  const response = responseHeaders(scope, names, notes, place);
  if (Object.keys(response).length > 0) policies.responseHeaderModifier = response;
  return { policies, notes, problems: [] };
}

function hostPart(value: string, names: NginxNames, notes: string[], place: string): DraftFields {
  if (value === "$proxy_host") return { hostRewrite: { mode: "Auto" } };
  if (value === "$host" || value === "$http_host") return { hostRewrite: { mode: "None" } };
  const text = nginxText(value, names);
  if (text?.kind === "constant")
    return { hostRewrite: undefined, urlRewrite: { authority: { full: plainText(text.text) } } };
  notes.push(`${place}: the backend gets the client's Host, because gwc does not support ${value}`);
  return { hostRewrite: { mode: "None" } };
}

function responseHeaders(
  scope: NginxScope,
  names: NginxNames,
  notes: string[],
  place: PlaceName,
): DraftFields {
  const add: Record<string, string> = {};
  for (const each of scope.all("add_header")) {
    const [name = "", value = "", always] = each.words;
    const text = nginxText(value, names);
    if (text?.kind !== "constant" || name in add)
      notes.push(`${place(each)}: the response header ${name} is skipped`);
    else add[name] = plainText(text.text);
    if (always === undefined)
      notes.push(
        `${place(each)}: nginx adds ${name} only to status 200 to 308; gwc adds it to every response except refusals`,
      );
  }
  const remove = scope.all("proxy_hide_header").map(({ words: [name = ""] }) => name);
  return {
    ...(Object.keys(add).length > 0 && { add }),
    ...(remove.length > 0 && { remove }),
  };
}
