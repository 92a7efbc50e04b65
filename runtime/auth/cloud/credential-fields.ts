/** A JSON object with secrets, read field by field. Errors never quote its content. */
export class CredentialFields {
  readonly #fields: ReadonlyMap<string, unknown>;
  readonly #what: string;

  private constructor(value: object, what: string) {
    this.#fields = new Map(Object.entries(value));
    this.#what = what;
  }

  /** `what`: description for errors. Throws if the string is not a JSON object. */
  static parse(text: string, what: string): CredentialFields {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw new Error(`${what} is not JSON`);
    }
    if (typeof value !== "object" || value === null)
      throw new Error(`${what} is not a JSON object`);
    return new CredentialFields(value, what);
  }

  /** Throws if it is absent, or not a string. */
  text(name: string): string {
    const value = this.optionalText(name);
    if (value === undefined) throw new Error(`${this.#what} has no "${name}"`);
    return value;
  }

  optionalText(name: string): string | undefined {
    const value = this.#fields.get(name);
    return typeof value === "string" ? value : undefined;
  }

  /** Throws if it is absent, or not a number. Azure's managed identities write numbers as strings. */
  number(name: string): number {
    const field = this.#fields.get(name);
    const value = typeof field === "string" && field !== "" ? Number(field) : field;
    if (typeof value !== "number" || Number.isNaN(value))
      throw new Error(`${this.#what} has no "${name}"`);
    return value;
  }

  object(name: string): CredentialFields | undefined {
    const value = this.#fields.get(name);
    if (typeof value !== "object" || value === null) return undefined;
    return new CredentialFields(value, `"${name}" of ${this.#what}`);
  }

  /** Its strings by name. */
  get texts(): readonly (readonly [string, string])[] {
    return [...this.#fields].flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value] as const] : [],
    );
  }
}
