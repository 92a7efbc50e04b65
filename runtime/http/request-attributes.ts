import type {
  ApiKeyVariable,
  BasicAuthVariable,
  JwtVariable,
  LlmVariable,
  PolicyVariable,
} from "../cel/variables.ts";

/** What the policies of a request found out, for expressions that are evaluated elsewhere; null without it. */
export class RequestAttributes {
  jwt: JwtVariable = null;
  apiKey: ApiKeyVariable = null;
  basicAuth: BasicAuthVariable = null;
  extauthz: PolicyVariable = null;
  extproc: PolicyVariable = null;
  metadata: PolicyVariable = null;
  llm: LlmVariable = null;
}
