import { type KnownModel, knownModel, knownModels } from "../../backends/ai/known-models.ts";
import { MODEL_ROWS_DATE } from "../../backends/ai/model-rows.ts";
import { type Page, paragraph, table } from "./page.ts";

/** Returns the page of a model, by its name at any provider; `undefined` if it is unknown. */
export function modelPage(name: string): Page | undefined {
  const model = knownModel(name);
  if (model === undefined) return undefined;
  const { system, context, inputs, traits, state, price } = model;
  const { maxOutput, reasoning, efforts, takesSampling } = traits;
  const priceRows = [
    { name: "", rates: price?.rates ?? {} },
    ...(price?.tiers ?? []).map(({ contextOver, rates }) => ({
      name: ` above ${contextOver} prompt tokens`,
      rates,
    })),
  ].flatMap(({ name: prompts, rates }) =>
    Object.entries(rates).map(([kind, rate]) => [`price: ${kind}${prompts}`, `$${rate}`]),
  );
  return {
    title: model.name,
    parts: [
      paragraph(`What gwc knows of this model, as of ${MODEL_ROWS_DATE}.`),
      ...table(
        ["property", "value"],
        [
          ["vendor", system],
          ["state", state],
          ["context", `${context} tokens`],
          ["maximum output", `${maxOutput} tokens`],
          ["inputs", inputs.join(", ")],
          ["reasoning", efforts === undefined ? reasoning : `${reasoning} (${efforts.join(", ")})`],
          ["sampling parameters", takesSampling ? "taken" : "left out"],
          ["schemas of outputs", SCHEMA_SUBSETS[system] ?? "as its server takes them"],
          ...priceRows,
        ],
      ),
      paragraph(
        "Prices are in US dollars for a million tokens. `config.modelCatalog` overrides prices and traits. Translated requests " +
          "follow the traits if a configuration names the model.",
      ),
    ],
  };
}

/** How vendors enforce schemas of outputs, and what happens to the rest. */
const SCHEMA_SUBSETS: Readonly<Record<string, string>> = {
  anthropic: "objects are closed, and other keywords move into descriptions",
  "gcp.gemini": "OpenAPI's keywords, and others move into descriptions",
  openai: "strict if all properties are required, or else not enforced",
};

/** Returns the list of known models. */
export function modelsPage(): Page {
  return {
    title: `Models that gwc knows, as of ${MODEL_ROWS_DATE}`,
    parts: table(["model", "vendor", "state", "reasoning"], knownModels().map(listed)),
  };
}

function listed({ name, system, state, traits }: KnownModel): readonly string[] {
  return [name, system, state, traits.reasoning];
}
