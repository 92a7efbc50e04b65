import type { ValueSchema } from "../../json/json-schema.ts";

/** An operation of an OpenAPI document, as a tool. */
export interface OpenApiTool {
  readonly name: string;
  readonly description: string;
  /**
   * Schema of the arguments of `tools/call`: an object with a member per part of the request, `path`, `query`, `header`,
   * `body`.
   */
  readonly inputSchema: ValueSchema;
  readonly method: string;
  /** Relative to the path of the server; `{petId}` stands for a member of `path`. */
  readonly path: string;
  /**
   * How lists and objects in the query are written, by parameter name. By default each item of a list is a parameter of
   * that name, and each member of an object is a parameter with its own name (`form`, exploded: OpenAPI's default).
   */
  readonly queryStyles?: Readonly<Record<string, QueryStyle>>;
}

/** The separator between the values (for objects: names and values), or `name[member]=value`. */
export type QueryStyle = "commas" | "pipes" | "spaces" | "brackets";
