import type { ValueSchema } from "../../json/json-schema.ts";

/** An operation of an OpenAPI document, as a tool. */
export interface OpenApiTool {
  readonly name: string;
  readonly description: string;
  /**
   * Schema of the arguments of `tools/call`: an object with a member per part of the request, `path`, `query`, `header`,
   * `cookie`, `body`.
   */
  readonly inputSchema: ValueSchema;
  readonly method: string;
  /** Relative to the path of the server; `{petId}` stands for a member of `path`. */
  readonly path: string;
  /**
   * How values of parameters are written that are not written as OpenAPI's default. In the query, each item of a list is a
   * parameter of that name by default, and each member of an object is a parameter with its own name (`form`, exploded).
   */
  readonly styles?: Readonly<Partial<Record<ParameterPlace, ParameterStyles>>>;
  /** Form of the body; JSON if absent. */
  readonly body?: OpenApiBody;
}

/** The place of a parameter in a request. */
export type ParameterPlace = "path" | "query" | "header" | "cookie";

/** Styles by the names of parameters. */
export type ParameterStyles = Readonly<Record<string, ParameterStyle>>;

/** The separator between the values (for objects: names and values), `name[member]=value`, or a value as JSON. */
export type ParameterStyle = "commas" | "pipes" | "spaces" | "brackets" | "json";

/** The form of a body that is not JSON. */
export type OpenApiBody =
  | { readonly kind: "form"; readonly styles?: ParameterStyles }
  | { readonly kind: "multipart"; readonly parts?: Readonly<Record<string, OpenApiPart>> }
  /** A string as it is. */
  | { readonly kind: "text"; readonly type: string }
  /** Bytes, which arguments hold in base64. */
  | { readonly kind: "bytes"; readonly type: string };

/** A part of a multipart body. */
export type OpenApiPart = {
  /** Its media type; by default JSON for objects, and none for others. */
  readonly type?: string;
  /** Whether it is a file, which arguments hold in base64. */
  readonly isFile?: true;
};
