import MiniSearch from "minisearch";
import { objectOf } from "./initialize-result.ts";
import { stored } from "./noted-headers.ts";
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

/** Maximum number of words whose scores are cached. */
const MAX_TERMS = 256;

/** Number of tools that are found one by one; further ones are sorted. A search returns fewer by default. */
const MAX_SCANS = 16;

/** Scores of the tools that match one word of a query. */
interface TermScores {
  /** Places of the tools in the list. */
  readonly ids: Uint32Array;
  readonly scores: Float64Array;
}

/** The visible tools of a caller, ranked by BM25 over their names, descriptions and parameters. */
export class ToolIndex {
  readonly tools: readonly SeenTool[];
  readonly #summaries = new Map<SeenTool, ToolSummary>();
  /** By word, with a mark if the word may be misspelt. */
  readonly #terms = new Map<string, TermScores>();
  /** Built by the first search: most clients of a cached list only list. */
  #index: MiniSearch<SearchedFields> | undefined;

  constructor(tools: readonly SeenTool[]) {
    this.tools = tools;
  }

  /** Returns the tools that match any word of a query, best first. */
  *search(query: string): Iterable<SeenTool> {
    const terms = words(query).flatMap((word) => termOf(word) ?? []);
    // Misspelt words take much longer.
    const scores = this.#scores(terms, false) ?? this.#scores(terms, true);
    if (scores === undefined) return;
    for (const id of bestFirst(scores)) {
      const tool = this.tools[id];
      if (tool !== undefined) yield tool;
    }
  }

  /** Returns the score of each tool, 0 for tools without any of the words; `undefined` if there is no other tool. */
  #scores(terms: readonly string[], isMisspelt: boolean): Float64Array | undefined {
    const scores = new Float64Array(this.tools.length);
    const counts = new Uint16Array(this.tools.length);
    const distinct = new Set(terms);
    let hasAny = false;
    for (const term of terms) {
      const { ids, scores: ofTerm } = this.#scoresOf(term, isMisspelt);
      const count = distinct.delete(term) ? 1 : 0;
      // Counted loops: iterators would take half of the time of a search.
      for (let at = 0; at < ids.length; at++) {
        const id = ids[at] ?? 0;
        scores[id] = (scores[id] ?? 0) + (ofTerm[at] ?? 0);
        counts[id] = (counts[id] ?? 0) + count;
      }
      hasAny ||= ids.length > 0;
    }
    // Tools with more of the words are better, as in the library's search for several words.
    for (let id = 0; id < counts.length; id++) scores[id] = (scores[id] ?? 0) * (counts[id] ?? 0);
    return hasAny ? scores : undefined;
  }

  /** Returns the scores for a word. The library's search takes most of the time, so they are cached. */
  #scoresOf(term: string, isMisspelt: boolean): TermScores {
    const key = isMisspelt ? `~${term}` : term;
    const known = this.#terms.get(key);
    if (known !== undefined) return known;
    this.#index ??= indexOf(this.tools);
    const found = this.#index.search(term, isMisspelt ? { fuzzy: MAX_EDITS } : {});
    const scores = {
      ids: Uint32Array.from(found, ({ id }) => id),
      scores: Float64Array.from(found, ({ score }) => score),
    };
    stored(this.#terms, key, scores, MAX_TERMS);
    return scores;
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

/** Returns the places of positive scores, best first; equal ones stay in order. Sets returned ones to 0. */
function* bestFirst(scores: Float64Array): Iterable<number> {
  for (let scans = 0; scans < MAX_SCANS; scans++) {
    let best = -1;
    let highest = 0;
    for (let id = 0; id < scores.length; id++) {
      const score = scores[id] ?? 0;
      if (score > highest) [best, highest] = [id, score];
    }
    if (best === -1) return;
    scores[best] = 0;
    yield best;
  }
  const rest = Array.from(scores.keys()).filter((id) => (scores[id] ?? 0) > 0);
  yield* rest.sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
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
