/** The last good and the first bad value of a field; its place is a path such as `spec.static.port`. */
export type Bound = readonly [path: string, good: unknown, bad: unknown];

export const chars = (count: number, char = "a"): string => char.repeat(count);
export const items = <Item>(
  count: number,
  item: Item | ((index: number) => Item),
): readonly Item[] =>
  Array.from({ length: count }, (_, index) =>
    typeof item === "function" ? (item as (index: number) => Item)(index) : item,
  );
export const entries = (count: number, value: unknown): Readonly<Record<string, unknown>> =>
  Object.fromEntries(items(count, (index) => [`key${index}`, value]));

/** A text of at least one and at most so many characters. */
export const text = (path: string, max: number, char = "a"): readonly Bound[] => [
  [path, chars(1, char), ""],
  [path, chars(max, char), chars(max + 1, char)],
];
export const shortText = (path: string): readonly Bound[] => text(path, 256);
export const tinyText = (path: string): readonly Bound[] => text(path, 64);
export const longText = (path: string): readonly Bound[] => text(path, 1024);
export const cel = (path: string): readonly Bound[] => text(path, 16384, "1");
export const number = (path: string, min: number, max?: number): readonly Bound[] => [
  [path, min, min - 1],
  ...(max === undefined ? [] : [[path, max, max + 1] as const]),
  [path, min, min + 0.5],
];
export const word = (path: string, ...words: readonly (string | number)[]): readonly Bound[] =>
  words.map((each) => [path, each, `${each}x`] as const);
export const list = (path: string, max: number, item: unknown, min = 1): readonly Bound[] => [
  ...(min === 0 ? [] : [[path, items(min, item), items(min - 1, item)] as const]),
  [path, items(max, item), items(max + 1, item)],
];
export const named = (
  path: string,
  max: number,
  item: (index: number) => unknown,
): readonly Bound[] => [
  [path, items(max, item), items(max + 1, item)],
  [path, items(1, item), []],
];
export const map = (path: string, max: number, value: unknown): readonly Bound[] => [
  [path, entries(max, value), entries(max + 1, value)],
];
export const span = (path: string): readonly Bound[] => [
  [path, "99999h", "100000h"],
  [path, "1h2m3s4ms", "1h2m3s4ms5ms"],
  [path, "1s", "-1s"],
  [path, "1s", "1.5s"],
  [path, "1s", "1us"],
];
/** Exactly one of some fields: each alone is good, two or none are bad. */
export const oneOf = (
  path: string,
  choices: Readonly<Record<string, unknown>>,
): readonly Bound[] => {
  const names = Object.keys(choices);
  const only = (...chosen: readonly string[]) =>
    Object.fromEntries(chosen.map((name) => [name, choices[name]]));
  return [
    ...names.map((name) => [path, only(name), {}] as const),
    [path, only(names[0] ?? ""), only(names[0] ?? "", names[1] ?? "")],
  ];
};
export const someOf = (
  path: string,
  choices: Readonly<Record<string, unknown>>,
): readonly Bound[] =>
  Object.entries(choices).map(([name, value]) => [path, { [name]: value }, {}] as const);
export const needs = (
  path: string,
  whole: Readonly<Record<string, unknown>>,
  ...fields: string[]
) =>
  fields.map((field): Bound => {
    const { [field]: _, ...rest } = whole;
    return [path, whole, rest];
  });

export const service = { name: "web", port: 80 };
export const keys = { jwksPath: "/k", backendRef: service };
export const server = { host: "a", port: 1 };
export const http = { set: [{ name: "a", value: "'b'" }] };
