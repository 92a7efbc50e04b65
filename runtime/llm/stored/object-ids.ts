import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from "../../json/json-characters.ts";
import {
  endOfString,
  endOfValue,
  skipSpace,
  stringAt,
  stringOf,
  type TextRange,
} from "../../json/json-text.ts";
import type { StoredKind } from "./stored-ids.ts";

/** Rule for the ids in a member. */
export interface IdRule {
  readonly kind: StoredKind;
  /** Matches the types (`type`, `object`) of the objects with the member; absent if the rule holds for all. */
  readonly types?: RegExp;
  /** Whether requests may have any id there: messages of the model quote ids that the provider gave. */
  readonly isQuoted?: true;
  /** Whether the object itself is in the message, next to its id: the id may come from anywhere, and names nothing then. */
  readonly isCopy?: true;
}

/** How messages name objects that a provider stores. */
export interface IdNames {
  /**
   * Rules by the member whose value is an id, or a list of ids; the first one that holds counts. `container.id` is the member
   * `id` of the object in `container`.
   */
  readonly members: Readonly<Record<string, readonly IdRule[]>>;
  /** Members in which ids are no references. */
  readonly otherMembers: ReadonlySet<string>;
  /** Words of which each text with ids has one. */
  readonly words: readonly string[];
}

/** Ids in the messages of an API. */
export interface ApiIds {
  /** Ids in requests, which must be those of the caller. */
  readonly requests: IdNames;
  /** Ids in responses, which the caller gets as its own; absent if there are none. */
  readonly responses?: IdNames & {
    /** Whether the response to a request may have ids. */
    readonly isDueTo: (request: string) => boolean;
  };
}

/** Place of an id in a text. */
export interface ObjectId extends TextRange, Pick<IdRule, "kind" | "isQuoted" | "isCopy"> {
  readonly id: string;
  /** Whether the object has encrypted content, which the provider only reads with its own id. */
  readonly isEncrypted: boolean;
}

/** Finds the ids of stored objects in a JSON text, at any depth. */
export function idsIn(text: string, names: IdNames): readonly ObjectId[] {
  // Fast path: most messages name no stored object.
  if (!names.words.some((word) => text.includes(word))) return [];
  return new IdSearch(text, names).run();
}

/** An open object or list. */
interface OpenValue {
  /** Object that it is, or that contains it. */
  readonly object: OpenObject;
  readonly isList: boolean;
  /** Member of the value that is read next; `undefined` if a key of an object is read next. */
  member: string | undefined;
}

/** Members of an object that decide about its ids, until it ends. */
interface OpenObject {
  /** Member that has the object; empty for the whole text. */
  readonly parent: string;
  readonly types: string[];
  /** For each member with encrypted content: whether it has any. */
  readonly encrypted: boolean[];
  readonly ids: (TextRange & { readonly rules: readonly IdRule[] })[];
}

/** Search that reads a text once, and does not recurse: the sender chooses the depth. */
class IdSearch {
  readonly #text: string;
  readonly #names: IdNames;
  readonly #open: OpenValue[] = [];
  readonly #found: ObjectId[] = [];

  constructor(text: string, names: IdNames) {
    this.#text = text;
    this.#names = names;
  }

  run(): readonly ObjectId[] {
    const text = this.#text;
    for (let i = 0; i < text.length; ) i = this.#step(i);
    return this.#found;
  }

  /** Reads what is at a position; returns the position after it. */
  #step(at: number): number {
    const code = this.#text.charCodeAt(at);
    const last = this.#open.at(-1);
    if (code === QUOTE) return this.#string(at, last);
    if (code === OPEN_BRACE) this.#openObject(last);
    else if (code === OPEN_BRACKET) this.#openList(last);
    else if (code === COMMA && last?.isList === false) last.member = undefined;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) this.#close();
    return at + 1;
  }

  #string(start: number, last: OpenValue | undefined): number {
    const end = endOfString(this.#text, start);
    if (last === undefined) return end;
    if (last.member === undefined) return this.#key(last, { start, end });
    const { object, member } = last;
    const rules = this.#rulesOf(object, member);
    if (rules !== undefined) object.ids.push({ start, end, rules });
    return end;
  }

  /** Reads a key; returns the position of its value, or the one after it. */
  #key(last: OpenValue, range: TextRange): number {
    const text = this.#text;
    const key = stringOf(text, range);
    const start = skipSpace(text, skipSpace(text, range.end) + 1);
    last.member = key;
    const isInput = TOOL_INPUTS.has(key) && text.charCodeAt(start) === OPEN_BRACE;
    if (isInput || this.#names.otherMembers.has(key)) return endOfValue(text, start);
    const { types, encrypted } = last.object;
    const isString = text.charCodeAt(start) === QUOTE;
    if (key === "type" || key === "object") {
      const end = isString ? endOfString(text, start) : start;
      types.push(stringAt(text, { start, end }) ?? "");
    } else if (key === "encrypted_content") {
      encrypted.push(isString && text.charCodeAt(start + 1) !== QUOTE);
    }
    return start;
  }

  #rulesOf({ parent }: OpenObject, member: string): readonly IdRule[] | undefined {
    const { members } = this.#names;
    const own = `${parent}.${member}`;
    if (Object.hasOwn(members, own)) return members[own];
    return Object.hasOwn(members, member) ? members[member] : undefined;
  }

  #openObject(last: OpenValue | undefined): void {
    const object = newObject(last?.member ?? "");
    this.#open.push({ object, isList: false, member: undefined });
  }

  #openList(last: OpenValue | undefined): void {
    const object = last?.object ?? newObject("");
    this.#open.push({ object, isList: true, member: last?.member ?? "" });
  }

  #close(): void {
    const closed = this.#open.pop();
    if (closed === undefined || closed.isList) return;
    const { ids, types, encrypted } = closed.object;
    // A repeated member may mean either value.
    const type = types.length === 1 ? types[0] : undefined;
    const isEncrypted = encrypted.length === 1 && encrypted[0] === true;
    for (const { start, end, rules } of ids) {
      const rule = rules.find(
        (each) => each.types === undefined || (type !== undefined && each.types.test(type)),
      );
      const id = stringAt(this.#text, { start, end });
      if (rule === undefined || id === undefined) continue;
      this.#found.push({ ...rule, start, end, id, isEncrypted });
    }
  }
}

/** Members with inputs of tools, which are objects in some APIs: the model has written them. */
const TOOL_INPUTS: ReadonlySet<string> = new Set(["input", "args"]);

function newObject(parent: string): OpenObject {
  return { parent, types: [], encrypted: [], ids: [] };
}
