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

/** Version of lock files that is read and written. */
export const LOCK_VERSION = 2;

const digest = text("SHA-256, base64url", { pattern: "^[\\w-]{43}$" });

const items = map(
  object(
    {
      description: anyText({}),
      hidden: integer("number of invisible characters in its definition", 1, 1e9),
      digests: map(digest),
      arguments: list(anyText({})),
    },
    { required: ["digests"] },
  ),
);

const schema = object(
  {
    version: integer("version of the file format", 1, 1_000_000),
    targets: list(
      object(
        {
          name: text("name of the server in the configuration"),
          server: text("its address or command"),
          instructions: object(
            {
              text: anyText({}),
              hidden: integer("number of invisible characters in it", 1, 1e9),
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

/** Reads the targets of a lock file; returns a string if it is not a valid lock. */
export function readToolLock(yaml: string): readonly LockedTarget[] | string {
  const value = yamlValue(yaml);
  if (typeof value?.version === "number" && value.version !== LOCK_VERSION)
    return `has version ${value.version}, but this gwc supports version ${LOCK_VERSION}`;
  if (!compileSchema(schema, [value])(value)) return "is not a tool lock";
  const { targets } = validated(schema, value);
  return targets.map(({ name, server, instructions, ...lists }) => ({
    name,
    server,
    instructions: instructions && { hidden: 0, ...instructions },
    items: ITEM_LIST_NAMES.flatMap((itemList) =>
      Object.entries(lists[itemList] ?? {}).map(
        ([item, { description = "", hidden = 0, digests, arguments: given }]) => ({
          list: itemList,
          name: item,
          description,
          hidden,
          digests,
          ...(given && { arguments: given }),
        }),
      ),
    ),
  }));
}

/** Parses YAML; returns `undefined` if it is invalid. */
function yamlValue(yaml: string) {
  try {
    return parse(yaml);
  } catch {
    return undefined;
  }
}

/** Reads the lock of a backend for its servers; returns `undefined` if it cannot be used (reported). */
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

/** Identifies a target's server for reviewers of a lock. Values that are read at start are not included. */
export function serverText(
  target: McpCommand | { readonly kind: "streamable" | "sse" | "openapi"; readonly url: Text },
): string {
  if (target.kind !== "stdio") return `${target.kind}: ${shownText(target.url)}`;
  const command = [target.command, ...target.args.map(shownText)].join(" ");
  return `stdio: ${command}${target.cwd === undefined ? "" : ` in ${shownText(target.cwd)}`}`;
}

/** Words for new, changed and removed items. */
interface ChangeWords {
  readonly isNew: string;
  readonly isOther: string;
  readonly isGone: string;
}

/** Words for the changes of a lock that a person has approved. */
export const APPROVED_WORDS: ChangeWords = {
  isNew: "approved",
  isOther: "approved again",
  isGone: "withheld",
};

/** Words for unapproved changes of what servers offer. */
export const OFFERED_WORDS: ChangeWords = {
  isNew: "is new",
  isOther: "is not as approved",
  isGone: "is no longer offered",
};

/** Compares which items two locks show to clients. */
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

/** Compares the instructions that a server gives to clients. */
function instructionsChange(
  old: LockedInstructions | undefined,
  now: LockedInstructions | undefined,
  { isNew, isOther, isGone }: ChangeWords,
): SettingsChange | undefined {
  if (old?.digest === now?.digest) return undefined;
  const what = "its instructions";
  if (now === undefined) return { direction: "closes", text: `${what} ${isGone}` };
  if (old === undefined) return { direction: "opens", text: `${what} ${isNew}: ${quoted(now)}` };
  return { direction: "opens", text: `${what} ${isOther}: ${quoted(old)} -> ${quoted(now)}` };
}

/** Compares the items of one list. */
function itemChanges(
  before: readonly LockedItem[],
  after: readonly LockedItem[],
  { isNew, isOther, isGone }: ChangeWords,
): readonly SettingsChange[] {
  const changed = after.flatMap((item): readonly SettingsChange[] => {
    const old = before.find(({ name }) => name === item.name);
    if (old === undefined)
      return [{ direction: "opens", text: `${item.name} ${isNew}: ${describe(item)}` }];
    const parts = [...new Set([...Object.keys(old.digests), ...Object.keys(item.digests)])].filter(
      (part) => old.digests[part] !== item.digests[part],
    );
    if (parts.length === 0) return [];
    const texts =
      old.description === item.description ? "" : `: ${describe(old)} -> ${describe(item)}`;
    const what = `${item.name} ${isOther}, ${parts.join(", ")} changed${texts}`;
    return [{ direction: "opens", text: what }];
  });
  const gone = before
    .filter(({ name }) => after.every((item) => item.name !== name))
    .map(({ name }) => ({ direction: "closes" as const, text: `${name} ${isGone}` }));
  return [...changed, ...gone];
}

function describe({ description, hidden }: LockedItem): string {
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
