import type {
  ApiKeyVariable,
  BasicAuthVariable,
  JwtVariable,
  LlmVariable,
  PolicyVariable,
} from "../cel/variables.ts";

/** Whether a caller may ask for a model, by the name that clients use. */
export type ModelTest = (model: string) => boolean;

/** What the policies of a request found out, for what is decided elsewhere: variables of expressions are null without it. */
export class RequestAttributes {
  jwt: JwtVariable = null;
  apiKey: ApiKeyVariable = null;
  basicAuth: BasicAuthVariable = null;
  extauthz: PolicyVariable = null;
  extproc: PolicyVariable = null;
  metadata: PolicyVariable = null;
  llm: LlmVariable = null;
  /** Which models the caller may ask for; undefined: any. */
  allowedModels: ModelTest | undefined = undefined;
}
