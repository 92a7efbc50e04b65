import { foldCase } from "../../json/fold-case.ts";
import { type Member, objectMembers, type TextRange } from "../../json/json-text.ts";

/** The members of an object by name; a name sent twice, or one that differs from a known one in case only, is a problem. */
export type MessageFields = ReadonlyMap<string, Member>;

/** The members of an object in a message, for whoever asks for some of them: they are read once, when the first one does. */
export class ObjectFields {
  readonly #text: string;
  readonly #at: number;
  #members: Map<string, Member> | undefined;
  /** A name that is there twice. */
  #repeated: string | undefined;
  /** The names that some readers take for others. */
  readonly #folded = new Map<string, string>();

  constructor(text: string, at: number) {
    this.#text = text;
    this.#at = at;
  }

  /**
   * The members. A string is the problem: JSON parsers differ in which of two equal keys they take, and some ignore case,
   * so what was checked would not be what is executed.
   */
  among(known: ReadonlySet<string>): MessageFields | string {
    const members = this.#read();
    if (this.#repeated !== undefined) return `duplicate key ${JSON.stringify(this.#repeated)}`;
    for (const [key, folded] of this.#folded) {
      if (!known.has(key) && known.has(folded)) return `misspelt key ${JSON.stringify(key)}`;
    }
    return members;
  }

  /** One member; undefined when it is not there, or when a reader might take another for it. */
  get(name: string): Member | undefined {
    const members = this.#read();
    if (this.#repeated !== undefined) return undefined;
    for (const [key, folded] of this.#folded) if (folded === name && key !== name) return undefined;
    return members.get(name);
  }

  #read(): ReadonlyMap<string, Member> {
    if (this.#members !== undefined) return this.#members;
    const members = new Map<string, Member>();
    this.#members = members;
    for (const member of objectMembers(this.#text, this.#at)) {
      const { key } = member;
      if (members.has(key)) {
        this.#repeated = key;
        break;
      }
      members.set(key, member);
      const folded = foldCase(key);
      if (folded !== key) this.#folded.set(key, folded);
    }
    return members;
  }
}

/** The members of the object at `at`; see `ObjectFields`. */
export function readFields(
  text: string,
  at: number,
  known: ReadonlySet<string>,
): MessageFields | string {
  return new ObjectFields(text, at).among(known);
}

/**
 * A member of the object at `at`; undefined when it is not there, or when a reader might take another for it (see
 * `ObjectFields`).
 */
export function fieldOf(text: string, at: TextRange, name: string): Member | undefined {
  return new ObjectFields(text, at.start).get(name);
}
