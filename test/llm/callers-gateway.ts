import OpenAI from "openai";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";

/** Models of a gateway whose callers share the keys of its providers. */
interface CallersSettings {
  /** APIs beyond those of chats. */
  readonly apis?: readonly string[];
  /** The provider's key is the variable KEY. */
  readonly models: readonly object[];
  /** Callers beyond Ann and Bob: what their keys restrict, by name. */
  readonly others?: Readonly<Record<string, object>>;
  /** SESSION_KEY; empty if it is not set. */
  readonly sessionKey?: string;
}

/** A gateway whose callers Ann (`ann-key`) and Bob (`bob-key`) share the providers' key (`provider-key`). */
export async function startCallersGateway(settings: CallersSettings): Promise<Gateway> {
  const { apis = ["batches"], models, others = {}, sessionKey = "ab".repeat(32) } = settings;
  const callers = Object.entries({ ann: {}, bob: {}, ...others });
  const keys = callers.map(([name, limits]) => ({
    ...{ key: `\${${name.toUpperCase()}}`, metadata: { name } },
    ...limits,
  }));
  return startGateway({
    env: {
      ...{ KEY: "provider-key", SESSION_KEY: sessionKey },
      ...Object.fromEntries(callers.map(([name]) => [name.toUpperCase(), `${name}-key`])),
    },
    config: { llm: { port: await freePort(), apis, policies: { apiKey: { keys } }, models } },
  });
}

/** OpenAI's client of a caller. */
export function clientOf({ url }: Gateway, apiKey: string): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
}
