/** Maps the items of a list; returns the list itself if none changes. */
export function mapList(
  list: readonly unknown[],
  change: (item: unknown) => unknown,
): readonly unknown[] {
  let changed: unknown[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const next = change(list[i]);
    if (changed === undefined && next !== list[i]) changed = list.slice(0, i);
    changed?.push(next);
  }
  return changed ?? list;
}

/** Maps the values of an object; returns the object itself if none changes. */
export function mapObject(
  object: Readonly<Record<string, unknown>>,
  change: (value: unknown, key: string) => unknown,
): Readonly<Record<string, unknown>> {
  let changed: Record<string, unknown> | undefined;
  for (const key of Object.keys(object)) {
    const value = object[key];
    const next = change(value, key);
    if (next === value) continue;
    changed ??= { ...object };
    changed[key] = next;
  }
  return changed ?? object;
}

/** Renames the members of an object; returns the object itself if none changes. */
export function mapKeys(
  object: Readonly<Record<string, unknown>>,
  nameOf: (name: string) => string,
): Readonly<Record<string, unknown>> {
  const entries = Object.entries(object).map(([key, value]) => [nameOf(key), key, value] as const);
  if (entries.every(([name, key]) => name === key)) return object;
  return Object.fromEntries(entries.map(([name, , value]) => [name, value]));
}
