/** Lists the differences of two bundles by part: `routes/tools.ts differs`. */
export function bundleDifferences(bundle: string, built: string): readonly string[] {
  const [found, expected] = [partsOf(bundle), partsOf(built)];
  return [...new Set([...found.keys(), ...expected.keys()])].flatMap((name) => {
    const [here, there] = [found.get(name), expected.get(name)];
    if (here === there) return [];
    if (there === undefined) return `${name} is only in the bundle`;
    return here === undefined ? `${name} is missing from the bundle` : `${name} differs`;
  });
}

/** Splits a bundle into modules by name; the part before the first module is its head. */
function partsOf(bundle: string): ReadonlyMap<string, string> {
  const parts = new Map<string, string>();
  let name = "its head";
  let lines: string[] = [];
  const end = () => parts.set(name, (parts.get(name) ?? "") + lines.join("\n"));
  for (const line of bundle.split("\n")) {
    const heading =
      /^\/\/ (?:generated:)?((?:runtime|node_modules|routes|listeners)\/\S+|\w+\.ts)$/;
    const [, found] = heading.exec(line) ?? [];
    if (found === undefined) {
      lines.push(line);
      continue;
    }
    end();
    name = found;
    lines = [];
  }
  end();
  return parts;
}
