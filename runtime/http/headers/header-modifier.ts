/** Changes to the headers of a message: lower-case names, each in one place. */
export interface HeaderModifier {
  /** Replace all of their name. */
  readonly set: readonly (readonly [name: string, value: string])[];
  /** Stand beside those of their name. */
  readonly add: readonly (readonly [name: string, value: string])[];
  readonly remove: readonly string[];
}
