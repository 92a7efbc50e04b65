import { foldCase } from "../../json/fold-case.ts";
import { objectMembers, type TextRange } from "../../json/json-text.ts";
import type { ScannedMember } from "../../json/scan-json.ts";

/** A member of an object in a message. */
export type FieldMember = Omit<ScannedMember, "members"> & Partial<Pick<ScannedMember, "members">>;

/** The members of an object by name; a name sent twice, or one that differs from a known one in case only, is a problem. */
export interface MessageFields {
  get(name: string): FieldMember | undefined;
  values(): Iterable<FieldMember>;
}

/** Objects with no more members are searched from their beginning: to make an index takes longer. */
const FEW_MEMBERS = 16;

/** The members of an object in a message, for whoever asks for some of them. */
export class ObjectFields {
  readonly #members: readonly FieldMember[];
  /** Of many members. */
  readonly #byName: ReadonlyMap<string, FieldMember> | undefined;
  /** A name that is there twice. */
  readonly #repeated: string | undefined;

  constructor(members: readonly FieldMember[]) {
    this.#members = members;
    if (members.length <= FEW_MEMBERS) {
      this.#repeated = repeatedOfFew(members);
      return;
    }
    const byName = new Map<string, FieldMember>();
    for (const member of members) {
      if (byName.has(member.key)) this.#repeated = member.key;
      byName.set(member.key, member);
    }
    this.#byName = byName;
  }

  /**
   * The members. A string is the problem: JSON parsers differ in which of two equal keys they take, and some ignore case,
   * so what was checked would not be what is executed.
   */
  among(known: ReadonlySet<string>): MessageFields | string {
    if (this.#repeated !== undefined) return `duplicate key ${JSON.stringify(this.#repeated)}`;
    for (const { key } of this.#members) {
      if (known.has(key)) continue;
      for (const name of known) {
        if (isMisspelt(key, name)) return `misspelt key ${JSON.stringify(key)}`;
      }
    }
    return { get: (name) => this.#find(name), values: () => this.#members };
  }

  /** One member; undefined when it is not there, or when a reader might take another for it. */
  get(name: string): FieldMember | undefined {
    if (this.#repeated !== undefined) return undefined;
    for (const { key } of this.#members) if (isMisspelt(key, name)) return undefined;
    return this.#find(name);
  }

  #find(name: string): FieldMember | undefined {
    if (this.#byName !== undefined) return this.#byName.get(name);
    for (const member of this.#members) if (member.key === name) return member;
    return undefined;
  }
}

/** The members of an object that was scanned. */
export function fieldsOf({ members = [] }: FieldMember): ObjectFields {
  return new ObjectFields(members);
}

/** The members of the object at `at`; see `ObjectFields`. */
export function readFields(
  text: string,
  at: number,
  known: ReadonlySet<string>,
): MessageFields | string {
  return new ObjectFields(objectMembers(text, at)).among(known);
}

/**
 * A member of the object at `at`; undefined when it is not there, or when a reader might take another for it (see
 * `ObjectFields`).
 */
export function fieldOf(text: string, at: TextRange, name: string): FieldMember | undefined {
  return new ObjectFields(objectMembers(text, at.start)).get(name);
}

/** An object without members. */
export const noFields: MessageFields = { get: () => undefined, values: () => [] };

function repeatedOfFew(members: readonly FieldMember[]): string | undefined {
  for (const [index, { key }] of members.entries()) {
    for (let before = 0; before < index; before++) {
      if (members[before]?.key === key) return key;
    }
  }
  return undefined;
}

/** Whether a reader that doesn't regard case takes a key for a name that it is not. Folding keeps the length. */
function isMisspelt(key: string, name: string): boolean {
  return key.length === name.length && key !== name && foldCase(key) === foldCase(name);
}
