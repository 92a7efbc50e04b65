import { foldCase } from "../../json/fold-case.ts";
import { objectMembers, type TextRange } from "../../json/json-text.ts";
import type { ScannedMember } from "../../json/scan-json.ts";

/** A member of an object in a message. */
export type FieldMember = Omit<ScannedMember, "members"> & Partial<Pick<ScannedMember, "members">>;

/** The members of an object by name. Duplicate names, and names that differ from a known one in case only, are rejected. */
export interface MessageFields {
  get(name: string): FieldMember | undefined;
  values(): Iterable<FieldMember>;
}

/** Maximum number of members that are searched linearly; building an index takes longer. */
const MAX_LINEAR_SEARCH = 16;

/** The members of an object in a message. */
export class ObjectFields {
  readonly #members: readonly FieldMember[];
  /** Index by name, for objects with many members. */
  readonly #byName: ReadonlyMap<string, FieldMember> | undefined;
  /** A name that occurs twice. */
  readonly #repeated: string | undefined;

  constructor(members: readonly FieldMember[]) {
    this.#members = members;
    if (members.length <= MAX_LINEAR_SEARCH) {
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
   * Returns the members, or a string that describes the problem. JSON parsers differ in which of two equal keys they take,
   * and some ignore case, so the value that was checked would not be the value that is executed.
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

  /** Returns one member; `undefined` if it is absent or if another parser might read a different one. */
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

/** Returns the members of a scanned object. */
export function fieldsOf({ members = [] }: FieldMember): ObjectFields {
  return new ObjectFields(members);
}

/** Reads the members of the object at `at`; see `ObjectFields`. */
export function readFields(
  text: string,
  at: number,
  known: ReadonlySet<string>,
): MessageFields | string {
  return new ObjectFields(objectMembers(text, at)).among(known);
}

/**
 * Returns a member of the object at `at`; `undefined` if it is absent or if another parser might read a different one (see
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

/** Whether a case-insensitive parser takes the key for a name that differs from it. Folding keeps the length. */
function isMisspelt(key: string, name: string): boolean {
  return key.length === name.length && key !== name && foldCase(key) === foldCase(name);
}
