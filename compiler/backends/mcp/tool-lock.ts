import { parse } from "yaml";
import { ITEM_LIST_NAMES, itemLists } from "../../../runtime/mcp/protocol/item-lists.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { SettingsChange } from "../../model/access.ts";
import { shownText, type Text } from "../../model/texts.ts";
import {
  type LockedInstructions,
  type LockedItem,
  type LockedTarget,
  lockKey,
  type ToolLockNode,
} from "../../model/tool-lock.ts";
import { anyText, integer, list, map, object, text, validated } from "../../schema/schema.ts";
import { compileSchema } from "../../schema/schema-compiler.ts";
import type { ConnectionContext } from "../parts/connection.ts";
import type { McpCommand, ToolLockConfig } from "./mcp-config.ts";

/** The version of lock files that is read and written. */
export const LOCK_VERSION = 2;

const digest = text("SHA-256, base64url", { pattern: "^[\\w-]{43}$" });

const items = map(
  object(
    {
      description: anyText({}),
      hidden: integer("characters of its definition that are not seen", 1, 1e9),
      digests: map(digest),
    },
    { required: ["digests"] },
  ),
);

const schema = object(
  {
    version: integer("the form of the file", 1, 1_000_000),
    targets: list(
      object(
        {
          name: text("what the configuration calls the server"),
          server: text("its address or command"),
          instructions: object(
            {
              text: anyText({}),
              hidden: integer("characters of it that are not seen", 1, 1e9),
              digest,
            },
            { required: ["text", "digest"] },
          ),
          tools: items,
          prompts: items,
          resources: items,
          resourceTemplates: items,
        },
        { required: ["name", "server"] },
      ),
    ),
  },
  { required: ["version", "targets"] },
);

/** The targets of a lock file; a string is why it is none. */
export function readToolLock(yaml: string): readonly LockedTarget[] | string {
  const value = yamlValue(yaml);
  if (typeof value?.version === "number" && value.version !== LOCK_VERSION)
    return `is of version ${value.version}, and this gwc knows version ${LOCK_VERSION}`;
  if (!compileSchema(schema, [value])(value)) return "is no lock of tools";
  const { targets } = validated(schema, value);
  return targets.map(({ name, server, instructions, ...lists }) => ({
    name,
    server,
    instructions: instructions && { hidden: 0, ...instructions },
    items: ITEM_LIST_NAMES.flatMap((itemList) =>
      Object.entries(lists[itemList] ?? {}).map(
        ([item, { description = "", hidden = 0, digests }]) => ({
          list: itemList,
          name: item,
          description,
          hidden,
          digests,
        }),
      ),
    ),
  }));
}

/** Undefined: the text is no YAML. */
function yamlValue(yaml: string) {
  try {
    return parse(yaml);
  } catch {
    return undefined;
  }
}

/** Reads the lock that a backend names, for its servers; undefined when it can't be used (reported). */
export function resolveToolLock(
  { file, configMap: given, origin }: ToolLockConfig,
  servers: readonly (Pick<LockedTarget, "name" | "server"> & { readonly origin: Origin })[],
  { host, diagnostics, resolvePath }: ConnectionContext,
): ToolLockNode | undefined {
  const path = given === undefined ? resolvePath(file, origin) : file;
  const read = given === undefined ? host.readText(path) : given.entry;
  const configMap = given && { namespace: given.namespace, name: given.name };
  if (read.kind === "problem") {
    diagnostics.report("no-tool-lock", origin, { file: path, configMap, problem: read.problem });
    return undefined;
  }
  const locked = readToolLock(read.text);
  if (typeof locked === "string") {
    diagnostics.report("bad-tool-lock", origin, { file: path, configMap, problem: locked });
    return undefined;
  }
  const own = new Set(servers.map(lockKey));
  for (const { origin: at, ...server } of servers) {
    if (locked.some((each) => lockKey(each) === lockKey(server))) continue;
    const other = locked.find(({ name }) => name === server.name)?.server;
    diagnostics.report("unlocked-target", childOf(at, "name"), { file: path, ...server, other });
  }
  return {
    file: path,
    configMap,
    targets: locked.filter((each) => own.has(lockKey(each))),
    others: locked.filter((each) => !own.has(lockKey(each))),
    origin,
  };
}

/** Which server a target is, for those who review a lock; values that are read at start are not in it. */
export function serverText(
  target: McpCommand | { readonly kind: "streamable" | "sse" | "openapi"; readonly url: Text },
): string {
  if (target.kind !== "stdio") return `${target.kind}: ${shownText(target.url)}`;
  return `stdio: ${[target.command, ...target.args.map(shownText)].join(" ")}`;
}

/** What is said of an item that is new, that says something else than before, and that is gone. */
interface ChangeWords {
  readonly isNew: string;
  readonly isOther: string;
  readonly isGone: string;
}

/** The words of a lock that somebody has written. */
export const APPROVED_WORDS: ChangeWords = {
  isNew: "approved",
  isOther: "approved anew",
  isGone: "withheld",
};

/** The words of what servers offer, and nobody has approved. */
export const OFFERED_WORDS: ChangeWords = {
  isNew: "is new",
  isOther: "is not as approved",
  isGone: "is no longer offered",
};

/** What another lock shows to clients, or hides from them. */
export function lockChanges(
  before: readonly LockedTarget[],
  after: readonly LockedTarget[],
  words: ChangeWords = APPROVED_WORDS,
): readonly SettingsChange[] {
  const keys = [...new Set([...before, ...after].map(lockKey))];
  return keys.flatMap((key) => {
    const [old, now] = [before, after].map((side) => side.find((each) => lockKey(each) === key));
    const name = now?.name ?? old?.name;
    const lists = ITEM_LIST_NAMES.flatMap((each) => {
      const [oldItems, items] = [old, now].map(
        (side) => side?.items.filter((item) => item.list === each) ?? [],
      );
      return itemChanges(oldItems ?? [], items ?? [], words).map(({ direction, text: change }) => ({
        direction,
        text: `${name}: ${itemLists[each].word} ${change}`,
      }));
    });
    const instructions = instructionsChange(old?.instructions, now?.instructions, words);
    return instructions === undefined
      ? lists
      : [{ ...instructions, text: `${name}: ${instructions.text}` }, ...lists];
  });
}

/** What changes in what a server tells clients of its use. */
function instructionsChange(
  old: LockedInstructions | undefined,
  now: LockedInstructions | undefined,
  { isNew, isOther, isGone }: ChangeWords,
): SettingsChange | undefined {
  if (old?.digest === now?.digest) return undefined;
  const what = "text of its instructions";
  if (now === undefined) return { direction: "closes", text: `${what} ${isGone}` };
  if (old === undefined) return { direction: "opens", text: `${what} ${isNew}: ${quoted(now)}` };
  return { direction: "opens", text: `${what} ${isOther}: ${quoted(old)} -> ${quoted(now)}` };
}

/** What changes in one list. */
function itemChanges(
  before: readonly LockedItem[],
  after: readonly LockedItem[],
  { isNew, isOther, isGone }: ChangeWords,
): readonly SettingsChange[] {
  const changed = after.flatMap((item): readonly SettingsChange[] => {
    const old = before.find(({ name }) => name === item.name);
    if (old === undefined)
      return [{ direction: "opens", text: `${item.name} ${isNew}: ${said(item)}` }];
    const parts = [...new Set([...Object.keys(old.digests), ...Object.keys(item.digests)])].filter(
      (part) => old.digests[part] !== item.digests[part],
    );
    if (parts.length === 0) return [];
    const texts = old.description === item.description ? "" : `: ${said(old)} -> ${said(item)}`;
    const what = `${item.name} ${isOther}, ${parts.join(", ")} changed${texts}`;
    return [{ direction: "opens", text: what }];
  });
  const gone = before
    .filter(({ name }) => after.every((item) => item.name !== name))
    .map(({ name }) => ({ direction: "closes" as const, text: `${name} ${isGone}` }));
  return [...changed, ...gone];
}

function said({ description, hidden }: LockedItem): string {
  return withHidden(description === "" ? "no description" : `"${description}"`, hidden);
}

function quoted({ text, hidden }: LockedInstructions): string {
  return withHidden(`"${text}"`, hidden);
}

function withHidden(text: string, hidden: number): string {
  return hidden === 0
    ? text
    : `${text} (${hidden} hidden ${hidden === 1 ? "character" : "characters"})`;
}
