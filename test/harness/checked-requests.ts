import { expect } from "vitest";
import { atEnd } from "./at-end.ts";
import { requestProblems, requestSchema } from "./provider-schema.ts";

/** A request that an upstream has received. */
interface SentRequest {
  readonly url: string;
  readonly body: Uint8Array;
}

/** Fails the test when a request to the path of a provider's API is not valid by that provider's own schema. */
export function checkRequests(received: () => readonly SentRequest[]): void {
  atEnd(() => {
    expect(received().flatMap(problemsOf)).toEqual([]);
  });
}

function problemsOf({ url, body }: SentRequest): readonly string[] {
  const schema = requestSchema(url);
  if (schema === undefined || body.length === 0) return [];
  const text = Buffer.from(body).toString("utf8");
  return requestProblems(schema, sentBody(url, text)).map((problem) => `${url}: ${problem}`);
}

/** Vertex AI has Anthropic's body without the model, which stands in the path, and with a version. */
function sentBody(url: string, text: string): unknown {
  const body = JSON.parse(text);
  if (!/:(?:rawPredict|streamRawPredict)$/.test(url)) return body;
  const { anthropic_version: version, ...others } = body;
  expect(version).toBe("vertex-2023-10-16");
  return { model: "", ...others };
}
