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
  /**
   * How lists and objects of the query are written, by the parameter's name. Else each item of a list is a parameter of that
   * name, and each member of an object one of its own name (`form`, exploded: OpenAPI's own way).
   */
  readonly queryStyles?: Readonly<Record<string, QueryStyle>>;
}

/** One text with this between the values (of an object: names and values), or `name[member]=value`. */
export type QueryStyle = "commas" | "pipes" | "spaces" | "brackets";
