import { type Received, type Scripted, startScripted } from "./scripted.ts";

/** Numbers of a vector. */
const NUMBERS = 256;

/**
 * Starts a server with OpenAI's API for embeddings. A vector counts the words of a text, so that texts with the same words are
 * equal whatever their order, case and punctuation. It refuses requests without the model and the key.
 */
export async function startEmbeddingServer(
  key = "embedding-key",
  isUp: () => boolean = () => true,
): Promise<Scripted> {
  return startScripted((response, _, request) => {
    const { model, input } = readRequest(request);
    const isAllowed = request.headers.authorization === `Bearer ${key}`;
    if (!isUp() || !isAllowed || model !== "words" || request.url !== "/v1/embeddings") {
      response.writeHead(isUp() ? 400 : 503).end();
      return;
    }
    const data = [{ object: "embedding", index: 0, embedding: vectorOf(input) }];
    const usage = { prompt_tokens: 1, total_tokens: 1 };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ object: "list", data, model, usage }));
  }, "anything");
}

function readRequest({ body }: Received): { readonly model: string; readonly input: string } {
  return JSON.parse(body.toString());
}

function vectorOf(text: string): readonly number[] {
  const numbers = new Array<number>(NUMBERS).fill(0);
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? [""]) {
    let place = 7;
    for (const character of word) place = (place * 31 + (character.codePointAt(0) ?? 0)) % NUMBERS;
    numbers[place] = (numbers[place] ?? 0) + 1;
  }
  return numbers;
}
