import {
  applyEdits,
  type Edit,
  elementsOf,
  isArrayAt,
  isObjectAt,
  type Member,
  membersNamed,
  objectMembers,
  stringAt,
  type TextRange,
} from "../../json/json-text.ts";

/** Maximum of what apps may declare (MCP Apps, 2026-01-26). An absent member is not limited. */
export interface AppLimits extends Partial<Readonly<Record<AppDomains, readonly string[]>>> {
  /** Names of permissions, such as `camera`. */
  readonly permissions?: readonly string[];
}

/** Members of an app's content policy: lists of origins such as `https://api.example.com` and `https://*.example.com`. */
type AppDomains = "connectDomains" | "resourceDomains" | "frameDomains" | "baseUriDomains";

/** Returns a function that removes from a message or an item, as JSON text, what apps declare beyond the limits. */
export function appLimits(limits: AppLimits): (text: string) => string {
  return (text) => {
    if (!MAY_DECLARE.test(text)) return text;
    const declarations = membersNamed(text, "_meta").flatMap((meta) =>
      membersAt(text, meta).filter(({ key }) => key === "ui"),
    );
    const edits = declarations.flatMap((ui) =>
      membersAt(text, ui).flatMap((member) => memberEdits(text, member, limits)),
    );
    return applyEdits(text, edits);
  };
}

/** Matches the names of both members, and escapes, with which names can be written differently. */
const MAY_DECLARE = /csp|permissions|\\u/;

/** Returns the change of a member of `_meta.ui`. */
function memberEdits(text: string, member: Member, limits: AppLimits): readonly Edit[] {
  const { key, start, end } = member;
  if (key === "csp") return [{ start, end, text: narrowedPolicy(text, member, limits) }];
  const { permissions } = limits;
  if (key !== "permissions" || permissions === undefined) return [];
  const kept = membersAt(text, member).filter((each) => permissions.includes(each.key));
  return [{ start, end, text: objectOf(kept.map((each) => [each.key, textOf(text, each)])) }];
}

/** Returns a content policy with the origins that the limits cover. Members that the extension does not define are removed. */
function narrowedPolicy(text: string, at: TextRange, limits: AppLimits): string {
  const kept = membersAt(text, at).flatMap((member): readonly (readonly [string, string])[] => {
    const { key } = member;
    if (!isDomains(key)) return [];
    const limit = limits[key];
    return [
      [key, limit === undefined ? textOf(text, member) : coveredOrigins(text, member, limit)],
    ];
  });
  return objectOf(kept);
}

/** Returns the list without the origins that no limit covers. */
function coveredOrigins(text: string, { start }: TextRange, limit: readonly string[]): string {
  const declared = isArrayAt(text, start) ? elementsOf(text, start) : [];
  const origins = declared.map((each) => stringAt(text, each));
  return JSON.stringify(
    origins.filter((origin) =>
      limit.some((bound) => origin !== undefined && covers(bound, origin)),
    ),
  );
}

/** Whether a source of a content policy allows nothing that the bound does not. */
function covers(bound: string, declared: string): boolean {
  const [outer, inner] = [sourceOf(bound), sourceOf(declared)];
  if (outer === undefined || inner === undefined) return false;
  if (outer.scheme !== inner.scheme || outer.port !== inner.port) return false;
  const isBelow = outer.host.startsWith("*.") && inner.host.endsWith(outer.host.slice(1));
  return isBelow || outer.host === inner.host;
}

/** A scheme, a host, which may begin with `*.`, and a port. Everything else could add directives to a policy. */
const SOURCE = /^([a-z]+:\/\/)((?:\*\.)?[a-z\d](?:[a-z\d.-]*[a-z\d])?)(:\d+)?\/?$/;

function sourceOf(origin: string) {
  const [, scheme = "", host = "", port = ""] = SOURCE.exec(origin.toLowerCase()) ?? [];
  return host === "" ? undefined : { scheme, host, port };
}

function isDomains(key: string): key is AppDomains {
  return /^(?:connect|resource|frame|baseUri)Domains$/.test(key);
}

function membersAt(text: string, { start }: TextRange): readonly Member[] {
  return isObjectAt(text, start) ? objectMembers(text, start) : [];
}

function textOf(text: string, { start, end }: TextRange): string {
  return text.slice(start, end);
}

function objectOf(members: readonly (readonly [key: string, text: string])[]): string {
  return `{${members.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",")}}`;
}
