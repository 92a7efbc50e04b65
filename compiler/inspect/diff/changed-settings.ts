import { changedFields, flatFields } from "../../ir/settings-text.ts";
import { type ChangeDirection, listChanges, type SettingsChange } from "../../model/access.ts";
import { isLoopback } from "../../model/loopback.ts";

/** Compares settings field by field; changes whose effect on access is known come first. */
export function changedSettings(before: unknown, after: unknown): readonly SettingsChange[] {
  const [old, now] = [flatFields(before), flatFields(after)];
  const reported = new Set<string>();
  const known: SettingsChange[] = [];
  for (const [root, { gaining, what }] of partsOf([...old.keys(), ...now.keys()])) {
    const isBelow = (field: string): boolean => field.startsWith(`${root}.`);
    const [fields, fieldsNow] = [[...old.keys()].filter(isBelow), [...now.keys()].filter(isBelow)];
    if (fields.length > 0 && fieldsNow.length > 0) continue;
    for (const field of [...fields, ...fieldsNow]) reported.add(field);
    known.push(
      fields.length === 0
        ? { direction: gaining, text: `${what} added` }
        : { direction: OPPOSITE[gaining], text: `${what} removed` },
    );
  }
  for (const { name, what } of LISTS) {
    // Items of a part that came or went as a whole have been reported with it.
    const isItem = ([field]: readonly [string, string]): boolean =>
      name.test(field) && !reported.has(field);
    const [items, itemsNow] = [old, now].map((fields) => [...fields].filter(isItem));
    for (const [field] of [...(items ?? []), ...(itemsNow ?? [])]) reported.add(field);
    const values = (some: typeof items) => (some ?? []).map(([, value]) => value);
    known.push(...listChanges(what, values(items), values(itemsNow), "opens"));
  }
  for (const field of new Set([...old.keys(), ...now.keys()])) {
    const [from, to] = [old.get(field), now.get(field)];
    if (from === to || reported.has(field)) continue;
    if (DERIVED.test(field) && from !== undefined && to !== undefined) {
      reported.add(field);
      continue;
    }
    const found = FIELDS.find(({ name }) => name.test(field))?.weigh(from, to);
    if (found === undefined) continue;
    reported.add(field);
    known.push(found);
  }
  const rest = changedFields(old, now, (field) => !reported.has(field));
  return [...known, ...rest.map((text) => ({ direction: "changes" as const, text }))];
}

const OPPOSITE = { opens: "closes", closes: "opens", changes: "changes" } as const;

/** A part of settings that is reported as a whole if only one side has it. */
interface KnownPart {
  /** Effect of adding it. */
  readonly gaining: ChangeDirection;
  readonly what: string;
}

/** Returns the parts that contain fields, by path; nested parts are all included. */
function partsOf(fields: readonly string[]): ReadonlyMap<string, KnownPart> {
  const parts = new Map<string, KnownPart>();
  for (const field of fields)
    for (const { root, gaining, what } of PARTS) {
      const found = root.exec(field);
      if (found === null) continue;
      const { index, 0: text } = found;
      parts.set(field.slice(0, index + text.length), { gaining, what });
    }
  return parts;
}

const PARTS: readonly {
  readonly root: RegExp;
  readonly gaining: ChangeDirection;
  readonly what: string;
}[] = [
  { root: /^tls(?=\.)/, gaining: "closes", what: "TLS" },
  {
    root: /^(?:mode\.|listeners\.\d+\.)?tls\.clients(?=\.)/,
    gaining: "closes",
    what: "client certificate verification",
  },
  {
    root: /(?:^|\.)cache\.similar(?=\.)/,
    gaining: "opens",
    what: "cached responses to similar requests",
  },
  {
    root: /(?:^|\.)apps\.permissions(?=\.)/,
    gaining: "closes",
    what: "limit of the permissions of apps",
  },
  {
    root: /(?:^|\.)apps\.\w+Domains(?=\.)/,
    gaining: "closes",
    what: "limit of the origins of apps",
  },
];

/** Names that the compiler derives from other settings, which are reported themselves. */
const DERIVED = /(?:^|\.)cache\.pool$/;

/** Lists whose items each allow more, by the paths of their items. */
const LISTS: readonly { readonly name: RegExp; readonly what: string }[] = [
  {
    name: /(?:^|\.)tls\.clients\.authorities\.\d+\.file$/,
    what: "client certificate CA",
  },
  { name: /(?:^|\.)allowPrivate\.\d+$/, what: "reachable private address" },
  { name: /(?:^|\.)apps\.permissions\.allowed\.\d+$/, what: "permission of apps" },
  { name: /(?:^|\.)apps\.connectDomains\.allowed\.\d+$/, what: "origin for requests of apps" },
  { name: /(?:^|\.)apps\.resourceDomains\.allowed\.\d+$/, what: "origin of resources of apps" },
  { name: /(?:^|\.)apps\.frameDomains\.allowed\.\d+$/, what: "origin of frames in apps" },
  { name: /(?:^|\.)apps\.baseUriDomains\.allowed\.\d+$/, what: "base origin of apps" },
];

/** A field, by the end of its path, and the effect of changing it; `undefined` if that is unknown. */
interface KnownField {
  readonly name: RegExp;
  readonly weigh: (from: string | undefined, to: string | undefined) => SettingsChange | undefined;
}

/** Levels of certificate verification, weakest first. */
const VERIFICATION = ["none", "chain", "full"];

const FIELDS: readonly KnownField[] = [
  {
    name: /(?:^|\.)tls\.verification$/,
    weigh: (from = "", to = "") => {
      if (!VERIFICATION.includes(from) || !VERIFICATION.includes(to)) return undefined;
      const isLess = VERIFICATION.indexOf(to) < VERIFICATION.indexOf(from);
      const text = `server certificate verification: ${from} -> ${to}`;
      return { direction: isLess ? "opens" : "closes", text };
    },
  },
  {
    name: /^paths$/,
    weigh: (from, to) =>
      to === "verbatim"
        ? { direction: "opens", text: `paths are forwarded as sent: ${from} -> ${to}` }
        : {
            direction: "closes",
            text: `paths are forwarded in canonical form: ${from} -> ${to}`,
          },
  },
  {
    name: /(?:^|\.)tls\.clients\.mode$/,
    weigh: (from, to) => ({
      direction: to === "required" ? "closes" : "opens",
      text: `client certificates: ${from} -> ${to}`,
    }),
  },
  {
    name: /(?:^|\.)isPassthrough$/,
    weigh: (from, to) => forwarding(from === "true", to === "true"),
  },
  {
    name: /(?:^|\.)clientKey$/,
    weigh: (from, to) => forwarding(from !== undefined, to !== undefined),
  },
  {
    name: /(?:^|\.)cache\.scope$/,
    weigh: (from, to) => {
      const text = "cached responses";
      if (to === undefined)
        return { direction: "closes", text: `${text} are not shared by callers any more` };
      const what = from === undefined ? "are shared by callers" : "are shared by other callers";
      return { direction: "opens", text: `${text} ${what}` };
    },
  },
  {
    name: /(?:^|\.)cache\.similar\.threshold$/,
    weigh: (from, to) => ({
      direction: Number(to) < Number(from) ? "opens" : "closes",
      text: `least similarity of requests with the same response: ${from} -> ${to}`,
    }),
  },
  {
    name: DERIVED,
    weigh: (_, to) => ({
      direction: "changes",
      text: `replicas ${to === undefined ? "do not share cached responses any more" : "share cached responses"}`,
    }),
  },
  {
    name: /(?:^|\.)groups\.\d+\.\d+\.model$/,
    weigh: (from, to) => {
      if (to === undefined)
        return { direction: "opens", text: `any model that clients request, not only ${from}` };
      if (from === undefined)
        return { direction: "closes", text: `only ${to}, not any model that clients request` };
      return undefined;
    },
  },
  {
    name: /(?:^|\.)tls\.minVersion$/,
    weigh: (from, to) => {
      if (from === undefined || to === undefined) return undefined;
      const text = `minimum TLS version: ${from} -> ${to}`;
      return { direction: to < from ? "opens" : "closes", text };
    },
  },
  {
    name: /^address$|(?:^|\.)addresses\.\w+$/,
    weigh: (from = "", to = "") => {
      if (isLoopback(hostOf(from)) === isLoopback(hostOf(to)) && isAny(from) === isAny(to))
        return undefined;
      const isWider = isLoopback(hostOf(from)) || isAny(to);
      return { direction: isWider ? "opens" : "closes", text: `listens on ${from} -> ${to}` };
    },
  },
];

function forwarding(before: boolean, after: boolean): SettingsChange | undefined {
  const text = "client credentials";
  if (before === after) return undefined;
  return after
    ? { direction: "opens", text: `${text} are forwarded to the server` }
    : { direction: "closes", text: `${text} are not forwarded to the server` };
}

function hostOf(address: string): string {
  return address.replace(/:\d+$/, "");
}

/** Whether an address covers all interfaces. */
function isAny(address: string): boolean {
  return address === "every address" || ["", "0.0.0.0", "[::]", "*"].includes(hostOf(address));
}
