import type { PolicyUse } from "../ir/policies.ts";
import type { Program } from "../ir/program.ts";
import { allRoutes } from "../ir/routes.ts";
import type { Bundle } from "./bundle.ts";

/** `manifest.json`: what the bundle was made of, and what is in it and why. */
export interface BundleManifest {
  readonly gwc: string;
  readonly gateway: string;
  readonly inputs: readonly { readonly name: string; readonly sha256: string }[];
  /** Files that the build wrote, sorted; the next build removes those it no longer writes. */
  readonly files: readonly string[];
  /** Policies, and the routes and listeners that need each. */
  readonly policies: Readonly<Record<string, readonly string[]>>;
  /** Runtime modules in the bundle, and which modules import each. */
  readonly runtime: Readonly<Record<string, readonly string[]>>;
  /** Packages in the bundle, in bytes. */
  readonly packages: Readonly<Record<string, number>>;
  readonly bundle: { readonly bytes: number; readonly sha256: string };
}

/** The manifest of a build. */
export function manifestOf(
  program: Program,
  bundle: Bundle,
  sha256: string,
  files: readonly string[],
  version: string,
): BundleManifest {
  return {
    gwc: version,
    gateway: program.name,
    inputs: program.inputs,
    files: files.toSorted(),
    policies: policyUsers(program),
    runtime: Object.fromEntries(bundle.modules.map(({ name, importers }) => [name, importers])),
    packages: Object.fromEntries(bundle.packages.map(({ name, bytes }) => [name, bytes])),
    bundle: { bytes: Buffer.byteLength(bundle.text), sha256 },
  };
}

/** Which routes, and listeners before routing, use each policy. */
export function policyUsers(program: Program): Readonly<Record<string, readonly string[]>> {
  const users = new Map<string, string[]>();
  const add = ({ kind }: PolicyUse, user: string) =>
    users.set(kind, [...(users.get(kind) ?? []), user]);
  for (const { name, preRouting } of program.binds.flatMap((bind) => bind.listeners)) {
    for (const use of preRouting?.policies ?? []) add(use, `listener ${name}`);
  }
  for (const { route } of allRoutes(program)) {
    for (const use of route.policies) add(use, route.name);
  }
  return Object.fromEntries(users);
}
