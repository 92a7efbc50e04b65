import MiniSearch from "minisearch";
import { objectOf } from "./initialize-result.ts";
import type { SeenTool } from "./viewed-tools.ts";

/** Summary of a tool in the results of a search; JSON values. */
export interface ToolSummary {
  readonly name: string;
  readonly description?: string;
  /** Names of arguments; optional ones end with `?`. */
  readonly arguments: readonly string[];
}

/** Maximum length of a description in the results of a search. */
const MAX_DESCRIPTION = 300;

/** Maximum number of wrong letters in a word, as a share of its length. */
const MAX_EDITS = 0.25;

/** The visible tools of a caller, ranked by BM25 over their names, descriptions and parameters. */
export class ToolIndex {
  readonly tools: readonly SeenTool[];
  readonly #summaries = new Map<SeenTool, ToolSummary>();
  /** Built by the first search: most clients of a cached list only list. */
  #index: MiniSearch<SearchedFields> | undefined;

  constructor(tools: readonly SeenTool[]) {
    this.tools = tools;
  }

  /** Returns the tools that match any word of a query, best first. */
  search(query: string): readonly SeenTool[] {
    this.#index ??= indexOf(this.tools);
    const found = this.#index.search(query);
    // Misspelt words take much longer.
    const results = found.length > 0 ? found : this.#index.search(query, { fuzzy: MAX_EDITS });
    return results.flatMap(({ id }) => this.tools[id] ?? []);
  }

  /** Returns what a search tells about one of the tools. */
  summary(tool: SeenTool): ToolSummary {
    const known = this.#summaries.get(tool);
    if (known !== undefined) return known;
    const summary = summaryOf(tool);
    this.#summaries.set(tool, summary);
    return summary;
  }

  /** Returns the tool with this name; `undefined` if the caller sees none. */
  find(name: string): SeenTool | undefined {
    return this.tools.find((each) => each.name === name);
  }

  /** Returns the names of the targets with a tool. */
  targets(): readonly string[] {
    return [...new Set(this.tools.map(({ owner }) => owner.target.name))];
  }
}

function summaryOf({ name, text }: SeenTool): ToolSummary {
  const { description, inputSchema } = objectOf(JSON.parse(text));
  const { properties, required } = objectOf(inputSchema);
  const needed = new Set<unknown>(Array.isArray(required) ? required : []);
  return {
    name,
    ...(typeof description === "string" && { description: shortened(description) }),
    arguments: Object.keys(objectOf(properties)).map((each) =>
      needed.has(each) ? each : `${each}?`,
    ),
  };
}

function shortened(text: string): string {
  return text.length <= MAX_DESCRIPTION ? text : `${text.slice(0, MAX_DESCRIPTION)}...`;
}

/** Searched parts of a tool; `id` is its place in the list. */
interface SearchedFields {
  readonly id: number;
  /** Name and title. */
  readonly name: string;
  /** Description, with the names and descriptions of arguments. */
  readonly description: string;
}

function indexOf(tools: readonly SeenTool[]): MiniSearch<SearchedFields> {
  const index = new MiniSearch<SearchedFields>({
    fields: ["name", "description"],
    tokenize: words,
    processTerm: termOf,
    searchOptions: { boost: { name: 3 }, prefix: (term) => term.length > 2 },
  });
  index.addAll(tools.map(fieldsOf));
  return index;
}

function fieldsOf({ name, text }: SeenTool, id: number): SearchedFields {
  const { title, description, inputSchema } = objectOf(JSON.parse(text));
  const parameters = Object.entries(objectOf(objectOf(inputSchema).properties)).map(
    ([key, schema]) => `${key} ${stringOf(objectOf(schema).description)}`,
  );
  return {
    id,
    name: `${name} ${stringOf(title)}`,
    description: [stringOf(description), ...parameters].join(" "),
  };
}

function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Splits at everything but letters and digits, and before capitals: `getIssue_comments` has three words. */
function words(text: string): string[] {
  return text.replace(/(\p{Ll})(?=\p{Lu})/gu, "$1 ").match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Returns a word as it is compared; `undefined` for words that say nothing about a tool. */
function termOf(word: string): string | undefined {
  const term = word.toLowerCase();
  return STOP_WORDS.has(term) ? undefined : term;
}

const STOP_WORDS: ReadonlySet<string> = new Set(
  "a all an and are as at be by for from if in into is it of on one or so that the this to use with".split(
    " ",
  ),
);
