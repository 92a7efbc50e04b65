import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, release } from "node:os";
import { type Cost, formatCosts, quantile } from "./compare.ts";

/** A measured figure: the result of each round, and what it should be. */
export interface Figure {
  readonly name: string;
  /** One value for each round. */
  readonly values: readonly number[];
  /** Maximum value, or minimum if `isMinimum`; absent if nothing is expected. */
  readonly goal?: number | undefined;
  readonly isMinimum?: boolean;
  /** Number of decimals; 2 if absent. */
  readonly decimals?: number;
}

/** A table of figures. */
interface Table {
  readonly title: string;
  readonly figures: Figure[];
}

/** Prints the figures of a run, compares them with their goals, and writes them as tables of a document. */
export class Report {
  readonly #tables: Table[] = [];
  /** Whether no figure has missed its goal. */
  isGood = true;

  /** Starts a table. */
  table(title: string): void {
    this.#tables.push({ title, figures: [] });
    console.log(title);
  }

  /** Adds a figure to the current table. */
  figure(figure: Figure): void {
    const { name, goal } = figure;
    this.#tables.at(-1)?.figures.push(figure);
    const isMissed = isGoalMissed(figure);
    const note = goal === undefined ? "" : ` (goal ${goal})${isMissed ? " MISSED" : ""}`;
    console.log(`  ${name}: ${spread(figure)}${note}`);
    if (isMissed) this.isGood = false;
  }

  /** Adds the CPU of each case relative to the first one, which is the base. */
  costs(costs: readonly Cost[], goals: Readonly<Record<string, number>> = {}): void {
    process.stdout.write(formatCosts(costs));
    const [, ...others] = costs;
    for (const { name, ratios } of others) this.figure({ name, values: ratios, goal: goals[name] });
  }

  /** Reports a section that ended with an error. Its figures stay. */
  failed(section: string, error: unknown): void {
    console.error(`  ${section} failed:`, error);
    this.isGood = false;
  }

  /** Prints a line that belongs to no figure. */
  note(line: string): void {
    console.log(line);
  }

  /** Writes the tables of this run into a document: they replace those with their titles, and others stay. */
  write(file: string): void {
    const text = readFileSync(file, "utf8");
    const [before, rest] = text.split(BEGIN);
    const [written = "", after] = rest?.split(END) ?? [];
    if (after === undefined) throw new Error(`${file} has no place for figures`);
    const tables = new Map(
      written
        .split(/^### /m)
        .slice(1)
        .map((table) => [table.slice(0, table.indexOf("\n")), `### ${table.trim()}`]),
    );
    const made = this.#tables.filter(({ figures }) => figures.length > 0);
    for (const table of made) tables.set(table.title, tableText(table));
    writeFileSync(file, `${before}${BEGIN}\n${[...tables.values()].join("\n\n")}\n${END}${after}`);
  }
}

function tableText({ title, figures }: Table): string {
  return [
    `### ${title}\n`,
    `${machine()}\n`,
    "| case | median | middle half of the rounds | goal |",
    "| --- | --- | --- | --- |",
    ...figures.map(row),
  ].join("\n");
}

const BEGIN = "<!-- figures of npm run bench -->";
const END = "<!-- end of figures -->";

function row(figure: Figure): string {
  const { name, values, goal, isMinimum = false } = figure;
  const [low, middle, high] = quartiles(figure);
  const bound = goal === undefined ? "" : `${isMinimum ? "at least " : ""}${goal}`;
  const missed = isGoalMissed(figure) ? " (missed)" : "";
  const range = values.length === 1 ? "one round" : `${low} to ${high} (${values.length})`;
  return `| ${name} | ${middle} | ${range} | ${bound}${missed} |`;
}

/** A quarter of the rounds may be disturbed by the machine: a goal is missed if three quarters of them miss it. */
function isGoalMissed({ values, goal, isMinimum = false }: Figure): boolean {
  if (goal === undefined) return false;
  return isMinimum ? quantile(values, 0.75) < goal : quantile(values, 0.25) > goal;
}

/** Returns the median, and the middle half of the rounds. */
function spread(figure: Figure): string {
  const [low, middle, high] = quartiles(figure);
  return figure.values.length === 1 ? middle : `${middle} (${low} to ${high})`;
}

function quartiles({ values, decimals = 2 }: Figure): readonly [string, string, string] {
  const at = (share: number) => quantile(values, share).toFixed(decimals);
  return [at(0.25), at(0.5), at(0.75)];
}

/** Returns ratios to the first of two cases that are the same as ratios to both. `second`: those of the second. */
export function joined(
  ratios: readonly number[],
  second: readonly number[] = [],
): readonly number[] {
  return ratios.map((ratio, round) => (2 * ratio) / (1 + (second[round] ?? 1)));
}

/** Returns when and on what the figures were measured. */
function machine(): string {
  const date = new Date().toISOString().slice(0, 10);
  const [first] = cpus();
  const versions = [`Node.js ${process.versions.node}`, ...["nginx", "haproxy"].flatMap(versionOf)];
  return `Measured on ${date} on ${cpus().length} processors (${first?.model ?? "unknown"}), Linux ${/^\d+\.\d+/.exec(release())?.[0]}, with ${versions.join(", ")}.`;
}

function versionOf(program: string): readonly string[] {
  try {
    // nginx writes its version to standard error.
    const shown = execFileSync("sh", ["-c", `${program} -v 2>&1`], { encoding: "utf8" });
    const version = /\d+\.\d+[.\d]*/.exec(shown)?.[0];
    return version === undefined ? [] : [`${program} ${version}`];
  } catch {
    return [];
  }
}
