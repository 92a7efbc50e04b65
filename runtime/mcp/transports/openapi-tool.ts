import type { ValueSchema } from "../../json/json-schema.ts";

/** An operation of an OpenAPI document, as a tool. */
export interface OpenApiTool {
  readonly name: string;
  readonly description: string;
  /** What `tools/call` has to give: an object with a member for each place of the request, `path`, `query`, `header`, `body`. */
  readonly inputSchema: ValueSchema;
  readonly method: string;
  /** Below the path of the server; `{petId}` stands for a member of `path`. */
  readonly path: string;
  /** Lists in the query that are one text with commas; each item is a parameter of its own otherwise. */
  readonly joined: readonly string[];
}
