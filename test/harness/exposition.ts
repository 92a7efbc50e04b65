/** The metrics of a gateway at `/metrics`. */
export interface Exposition {
  readonly text: string;
  /** The type of each metric. */
  readonly types: ReadonlyMap<string, string>;
  /** The names of the labels of each metric's samples; those of a histogram's buckets without `le`. */
  readonly labels: ReadonlyMap<string, ReadonlySet<string>>;
  /** Returns the value of a sample by its name and labels as written; `undefined` if there is no such sample. */
  value(sample: string): number | undefined;
}

/** Asks the gateway whose stats port this is. */
export async function expositionOf(statsPort: number): Promise<Exposition> {
  const text = await (await fetch(`http://127.0.0.1:${statsPort}/metrics`)).text();
  const types = new Map<string, string>();
  const labels = new Map<string, Set<string>>();
  const values = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [, metric = "", type = ""] = /^# TYPE (\w+) (\w+)$/.exec(line) ?? [];
    if (metric !== "") types.set(metric, type);
    const [, name = "", all = "", value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (value === undefined) continue;
    values.set(line.slice(0, line.lastIndexOf(" ")), Number(value));
    const family = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, "");
    const known = labels.get(family) ?? new Set();
    for (const [, label = ""] of all.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) known.add(label);
    known.delete("le");
    labels.set(family, known);
  }
  return { text, types, labels, value: (sample) => values.get(sample) };
}
