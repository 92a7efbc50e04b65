import type { ModuleMistake } from "./declaration.ts";

/** A package whose code is part of a module of the user's. */
export interface BundledCode {
  readonly name: string;
  readonly version: string;
  /** SPDX expression; `undefined` if the line has none. */
  readonly license: string | undefined;
}

/** A package that a module names: `// @package minisearch@7.2.0 MIT`. */
const NAMED = /^\/\/ @package +((?:@[\w.-]+\/)?[\w.-]+)@(\d[\w.+-]*)(?: +(\S.*?))? *$/;
const MARK = /^\/\/ @package\b.*$/gm;

/** The line that esbuild writes above code of a package. */
const OF_PACKAGE = /^\/\/ (?:\S*\/)?node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\/\S+$/gm;

/** Returns the packages that a module names as part of its code. */
export function bundledCode(text: string): readonly BundledCode[] {
  return [...text.matchAll(MARK)].flatMap(([line]) => {
    const [, name, version, license] = NAMED.exec(line) ?? [];
    return name === undefined || version === undefined ? [] : [{ name, version, license }];
  });
}

/** Finds code of packages whose versions a module does not name: the bill of materials would be incomplete. */
export function unnamedPackages(text: string): readonly ModuleMistake[] {
  const named = new Set(bundledCode(text).map(({ name }) => name));
  const hint = (name: string) =>
    `write "// @package ${name}@VERSION LICENSE" at the top of the module: gateway.cdx.json lists it`;
  const malformed = [...text.matchAll(MARK)].filter(([line]) => !NAMED.test(line));
  const unnamed = new Map(
    [...text.matchAll(OF_PACKAGE)].map((found) => [found[1] ?? "", found] as const),
  );
  return [
    ...malformed.map(({ 0: line, index }) => ({
      message: `"${line}" names no package with a version`,
      hint: hint("NAME"),
      range: [index, index + line.length] as const,
    })),
    ...[...unnamed]
      .filter(([name]) => !named.has(name))
      .map(([name, { 0: line, index }]) => ({
        message: `the module contains code of the package "${name}", but does not name its version`,
        hint: hint(name),
        range: [index, index + line.length] as const,
      })),
  ];
}
