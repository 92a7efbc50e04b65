import { changedFields, flatFields } from "../../ir/settings-text.ts";
import { type ChangeDirection, listChanges, type SettingsChange } from "../../model/access.ts";
import { isLoopback } from "../../model/loopback.ts";

/** What is different in settings, field by field: first what is known to let more or fewer in, then the rest. */
export function changedSettings(before: unknown, after: unknown): readonly SettingsChange[] {
  const [old, now] = [flatFields(before), flatFields(after)];
  const said = new Set<string>();
  const known: SettingsChange[] = [];
  for (const [root, { gaining, what }] of partsOf([...old.keys(), ...now.keys()])) {
    const isBelow = (field: string): boolean => field.startsWith(`${root}.`);
    const [fields, fieldsNow] = [[...old.keys()].filter(isBelow), [...now.keys()].filter(isBelow)];
    if (fields.length > 0 && fieldsNow.length > 0) continue;
    for (const field of [...fields, ...fieldsNow]) said.add(field);
    known.push(
      fields.length === 0
        ? { direction: gaining, text: `${what} added` }
        : { direction: OPPOSITE[gaining], text: `${what} removed` },
    );
  }
  for (const { name, what } of LISTS) {
    // Items of a part that came or went as a whole have been reported with it.
    const isItem = ([field]: readonly [string, string]): boolean =>
      name.test(field) && !said.has(field);
    const [items, itemsNow] = [old, now].map((fields) => [...fields].filter(isItem));
    for (const [field] of [...(items ?? []), ...(itemsNow ?? [])]) said.add(field);
    const values = (some: typeof items) => (some ?? []).map(([, value]) => value);
    known.push(...listChanges(what, values(items), values(itemsNow), "opens"));
  }
  for (const field of new Set([...old.keys(), ...now.keys()])) {
    const [from, to] = [old.get(field), now.get(field)];
    if (from === to || said.has(field)) continue;
    const found = FIELDS.find(({ name }) => name.test(field))?.weigh(from, to);
    if (found === undefined) continue;
    said.add(field);
    known.push(found);
  }
  const rest = changedFields(old, now, (field) => !said.has(field));
  return [...known, ...rest.map((text) => ({ direction: "changes" as const, text }))];
}

const OPPOSITE = { opens: "closes", closes: "opens", changes: "changes" } as const;

/** A part of settings that is said as a whole when one side alone has it. */
interface KnownPart {
  /** What having it does. */
  readonly gaining: ChangeDirection;
  readonly what: string;
}

/** The parts that fields belong to, by their paths; of parts in one another all. */
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
    what: "certificates of clients, of known authorities,",
  },
];

/** Lists of which each item lets more through, by the paths of their items. */
const LISTS: readonly { readonly name: RegExp; readonly what: string }[] = [
  {
    name: /(?:^|\.)tls\.clients\.authorities\.\d+\.file$/,
    what: "clients' certificates: the authority",
  },
  { name: /(?:^|\.)allowPrivate\.\d+$/, what: "private addresses that clients can reach:" },
];

/** A field by the end of its path, and what another value of it does; undefined: nobody knows. */
interface KnownField {
  readonly name: RegExp;
  readonly weigh: (from: string | undefined, to: string | undefined) => SettingsChange | undefined;
}

/** How much of a server's certificate is checked, the least first. */
const VERIFICATION = ["none", "chain", "full"];

const FIELDS: readonly KnownField[] = [
  {
    name: /(?:^|\.)tls\.verification$/,
    weigh: (from = "", to = "") => {
      if (!VERIFICATION.includes(from) || !VERIFICATION.includes(to)) return undefined;
      const isLess = VERIFICATION.indexOf(to) < VERIFICATION.indexOf(from);
      const text = `the server's certificate is checked: ${from} -> ${to}`;
      return { direction: isLess ? "opens" : "closes", text };
    },
  },
  {
    name: /^paths$/,
    weigh: (from, to) =>
      to === "verbatim"
        ? { direction: "opens", text: `paths go on as they were sent: ${from} -> ${to}` }
        : {
            direction: "closes",
            text: `paths go on as rules and routes see them: ${from} -> ${to}`,
          },
  },
  {
    name: /(?:^|\.)tls\.clients\.mode$/,
    weigh: (from, to) => ({
      direction: to === "required" ? "closes" : "opens",
      text: `certificates of clients: ${from} -> ${to}`,
    }),
  },
  {
    name: /(?:^|\.)isPassthrough$/,
    weigh: (from, to) => passing(from === "true", to === "true"),
  },
  {
    name: /(?:^|\.)clientKey$/,
    weigh: (from, to) => passing(from !== undefined, to !== undefined),
  },
  {
    name: /(?:^|\.)groups\.\d+\.\d+\.model$/,
    weigh: (from, to) => {
      if (to === undefined)
        return { direction: "opens", text: `any model that clients ask for, not ${from} alone` };
      if (from === undefined)
        return { direction: "closes", text: `${to} alone, not any model that clients ask for` };
      return undefined;
    },
  },
  {
    name: /(?:^|\.)tls\.minVersion$/,
    weigh: (from, to) => {
      if (from === undefined || to === undefined) return undefined;
      const text = `TLS from ${from} -> ${to}`;
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

function passing(before: boolean, after: boolean): SettingsChange | undefined {
  const text = "credentials of clients";
  if (before === after) return undefined;
  return after
    ? { direction: "opens", text: `${text} go on to the server` }
    : { direction: "closes", text: `${text} do not go on to the server` };
}

function hostOf(address: string): string {
  return address.replace(/:\d+$/, "");
}

/** Whether an address stands for all of the machine. */
function isAny(address: string): boolean {
  return address === "every address" || ["", "0.0.0.0", "[::]", "*"].includes(hostOf(address));
}
