import type { ModelPrice, TokenRates } from "../../../runtime/llm/chat/prices.ts";
import type { ModelTraits } from "../../../runtime/llm/chat/request.ts";
import { suggest } from "../../diagnostics/suggestion.ts";
import { EFFORTS, REASONING_STYLES } from "../../model/model-prices.ts";
import { MODEL_ROWS } from "./model-rows.ts";

/** A model that gwc knows. */
export interface KnownModel {
  /** `gen_ai.provider.name` of its vendor. */
  readonly system: string;
  /** Name at its vendor, without a date. */
  readonly name: string;
  /** Maximum number of tokens of prompt and completion. */
  readonly context: number;
  /** Kinds of input: `text`, `image`, `pdf`, `audio`. */
  readonly inputs: readonly string[];
  readonly traits: Required<Omit<ModelTraits, "efforts">> & Pick<ModelTraits, "efforts">;
  readonly state: "current" | "superseded" | "retired";
  /** `undefined` if it is not known. */
  readonly price: ModelPrice | undefined;
}

/** Returns all models that gwc knows. */
export function knownModels(): readonly KnownModel[] {
  return MODEL_ROWS.trim()
    .split("\n")
    .map((line) => parseRow(line.split(" ")));
}

/**
 * Returns the model of a name at any provider: `claude-opus-4-7`, `us.anthropic.claude-opus-4-7-v1:0`,
 * `gpt-5-2025-08-07`, `openai/gpt-5`; `undefined` if it is unknown.
 */
export function knownModel(name: string): KnownModel | undefined {
  const short = shortModelName(name);
  return knownModels().find((each) => each.name === short);
}

/** Returns the known model that a name of the same family is probably meant as; `undefined` if there is none. */
export function misspelledModel(name: string): string | undefined {
  const short = shortModelName(name);
  if (!FAMILY.test(short) || OTHER_PURPOSE.test(short)) return undefined;
  return suggest(
    short,
    knownModels().map((each) => each.name),
  );
}

/** Beginnings of models for conversation. */
const FAMILY = /^(?:claude-|gpt-[4-9]|o[1-9]|gemini-[2-9])/;
/** Words in names of models that are not in the catalogue, because they are not for conversation. */
const OTHER_PURPOSE =
  /audio|chat|codex|embed|image|instruct|live|realtime|search|speech|transcribe|tts/;

/** Removes regions, vendors, versions of deployments and dates from the name of a model. */
function shortModelName(name: string): string {
  return name
    .replace(/^.*\//, "")
    .replace(/^(?:[a-z]+\.)?anthropic\./, "")
    .replace(/-v\d+(?::\d+)?$/, "")
    .replace(/@.*$/, "")
    .replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, "");
}

function parseRow(cells: readonly string[]): KnownModel {
  const [system = "", name = "", context, output, inputs = "", reasoning = ""] = cells;
  const [sampling, state, prices = "-", contextOver, above = ""] = cells.slice(6);
  const [style = "none", efforts] = reasoning.split(":");
  return {
    system,
    name,
    context: Number(context),
    inputs: inputs.split(","),
    traits: {
      maxOutput: Number(output),
      reasoning: REASONING_STYLES.find((each) => each === style) ?? "none",
      ...(efforts !== undefined && {
        efforts: EFFORTS.filter((effort) => efforts.split(",").includes(effort)),
      }),
      takesSampling: sampling === "sampling",
    },
    state: state === "retired" || state === "superseded" ? state : "current",
    price: parsePrice(prices, contextOver, above),
  };
}

function parsePrice(
  prices: string,
  contextOver: string | undefined,
  above: string,
): ModelPrice | undefined {
  if (prices === "-") return undefined;
  const rates = parseRates(prices);
  if (contextOver === undefined) return { rates };
  return { rates, tiers: [{ contextOver: Number(contextOver), rates: parseRates(above) }] };
}

function parseRates(text: string): TokenRates {
  const numbers = text.split("/");
  const named = (["input", "output", "cacheRead", "cacheWrite"] as const).flatMap((key, index) => {
    const number = numbers[index] ?? "";
    return number === "" ? [] : [[key, Number(number)]];
  });
  return Object.fromEntries(named);
}
