import { EFFORTS, MAX_RATE, REASONING_STYLES } from "../../model/model-prices.ts";
import {
  anyText,
  boolean,
  choice,
  either,
  type Infer,
  integer,
  list,
  map,
  number,
  object,
  text,
} from "../../schema/schema.ts";

/** Type of a valid `modelCatalog`. */
export type ModelCatalogValue = Infer<ReturnType<typeof modelCatalogSchema>>;

/** Returns the schema of the prices of models. */
export function modelCatalogSchema() {
  const catalog = object(
    {
      providers: map(
        object({
          models: map(
            object({
              rates: rates("Prices of the model."),
              tiers: list(
                object(
                  {
                    contextOver: integer(
                      "Number of prompt tokens above which the prices apply.",
                      0,
                      Number.MAX_SAFE_INTEGER,
                    ),
                    rates: rates("Prices that replace those of the model."),
                  },
                  { required: ["contextOver", "rates"] },
                ),
                { description: "Prices of long prompts." },
              ),
              traits: traits(),
            }),
            { description: "Models, by their names at the provider." },
          ),
        }),
        { description: "Providers, by their names in logs: `openai`, `anthropic`, `groq`." },
      ),
    },
    { required: ["providers"] },
  );
  return list(
    object(
      {
        file: text("Path of a JSON or YAML file with the catalog, read when the gateway is built."),
        inline: either(anyText(), catalog, {
          description: "The catalog itself, or its JSON as a string.",
        }),
      },
      { exactlyOneOf: ["file", "inline"] },
    ),
    {
      description:
        "Prices of models. Later catalogs replace models of earlier ones. They are the source of `llm.cost`, and of the costs in logs and metrics.",
    },
  );
}

/** Returns the schema of what a model takes. */
function traits() {
  return object(
    {
      maxOutput: integer(
        "Maximum number of tokens of a completion. Higher limits of clients become this one.",
        1,
        Number.MAX_SAFE_INTEGER,
      ),
      reasoning: choice(
        "How it reasons: not at all, always, with a budget of tokens, as it decides within an effort, or with an effort.",
        REASONING_STYLES,
      ),
      efforts: list(choice("", EFFORTS), {
        minItems: 1,
        description: "Efforts that it takes. Others become the next lower one.",
      }),
      sampling: boolean("Whether it takes `temperature`, `top_p` and penalties.", {
        default: true,
      }),
    },
    {
      description:
        "Parts of requests that the model takes, instead of those in the catalog of gwc (`gwc explain model NAME`). They apply to translated requests of a fixed model or alias.",
    },
  );
}

/** Returns the schema of prices. */
function rates(description: string) {
  return object(
    {
      input: rate("Prompt tokens."),
      output: rate("Tokens of completions."),
      cacheRead: rate("Prompt tokens read from the cache; the price of `input` by default."),
      cacheWrite: rate("Prompt tokens written to the cache; the price of `input` by default."),
      reasoning: rate("Tokens spent on reasoning; the price of `output` by default."),
      inputAudio: rate("Audio tokens of prompts; the price of `input` by default."),
      outputAudio: rate("Audio tokens of completions; the price of `output` by default."),
      character: rate("One character of a text that is spoken."),
      second: rate("One second of audio that is transcribed, if the provider reports it."),
      image: rate("One image that is requested."),
      document: rate("One document that is ranked."),
      search: rate("One search that the provider bills for a ranking."),
    },
    { description: `${description} In US dollars for a million tokens, or for one unit.` },
  );
}

function rate(description: string) {
  return either(
    number("", 0, MAX_RATE),
    text("", { pattern: "^[0-9]{1,9}(\\.[0-9]{1,6})?$", form: "a decimal number" }),
    { description },
  );
}
