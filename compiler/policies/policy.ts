import type { ConfigValue } from "../1-parse/values.ts";
import type { Diagnostics, Origin } from "../diagnostics.ts";
import type { Host } from "../host.ts";
import type { PolicyKind, PolicySettings } from "../ir.ts";
import type { Schema } from "../schema.ts";

/** What a user configures, by policy kind, in its canonical form: filled by the policies by declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by the policies
export interface PolicyConfigs {}

/**
 * The build-time third of a policy (the others: templates/policies and runtime/policies, same file name). What the
 * configuration means is said here and nowhere else; the schema, the README's table and `gwc explain` come from it.
 */
export interface Policy<Kind extends PolicyKind & keyof PolicyConfigs> {
  readonly kind: Kind;
  /** One sentence for the README's table and `gwc explain`, without a full stop. */
  readonly summary: string;
  /** Where it may stand in a standalone file. */
  readonly scope: readonly ("route" | "listener" | "backend")[];
  /** The shape of its value in the file. */
  readonly schema: Schema;
  /** True when it answers every request that reaches it: the route needs no backend, and what follows never acts. */
  readonly answers?: boolean;
  /** How the values of several levels become one: the most specific wins whole, or their rules are joined. */
  readonly merge: "replace" | "join";
  /** The validated value in its canonical form: spellings and aliases end here. */
  readonly read: (value: ConfigValue, origin: Origin) => PolicyConfigs[Kind];
  /** Complete settings for the template, or undefined when a mistake was reported. */
  readonly resolve: (
    config: PolicyConfigs[Kind],
    context: ResolveContext,
  ) => PolicySettings[Kind] | undefined;
}

/** What a policy may ask while it is resolved. */
export interface ResolveContext {
  readonly origin: Origin;
  readonly host: Host;
  readonly diagnostics: Diagnostics;
  /** The path, from the working directory, of a file that the configuration names. */
  readonly resolvePath: (name: string) => string;
  /** The route that carries the policy. */
  readonly route: {
    readonly isMcp: boolean;
    readonly policies: readonly PolicyKind[];
    /** The prefixes of its matches; undefined when a match has another kind of path. */
    readonly prefixes: readonly string[] | undefined;
  };
}
