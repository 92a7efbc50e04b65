import { type ExpressionConfig, resolveExpression } from "../../backends/parts/expressions.ts";
import { headerNameSchema, TOKEN_PATTERN } from "../../backends/parts/header-fields.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "../../model/expressions.ts";
import { expression, type Infer, object, type Schema, shortText } from "../../schema/schema.ts";
import type { ResolveContext } from "../policy.ts";

/** Location of a credential in a request, as configured. */
export type CredentialLocationConfig =
  /** Header name in lower case, and the prefix before the credential including its space, or "". */
  | { readonly header: string; readonly prefix: string; readonly isDefault?: true }
  | { readonly queryParameter: string }
  | { readonly cookie: string }
  | { readonly expression: ExpressionConfig };

/** The location with its expression compiled. */
export type CredentialLocationNode =
  | { readonly header: string; readonly prefix: string }
  | { readonly queryParameter: string }
  | { readonly cookie: string }
  | { readonly expression: CompiledExpression };

/** Returns the schema of `location` and `authorizationLocation`. */
export function credentialLocationSchema(defaults: string) {
  const named = (what: string, name: Schema<string>) =>
    object(
      { name },
      {
        required: ["name"],
        description: `${what}, which is removed before the request is forwarded.`,
      },
    );
  return object(
    {
      header: object(
        {
          name: headerNameSchema,
          prefix: shortText("Prefix before the credential, such as `Bearer `; empty by default."),
        },
        {
          required: ["name"],
          description: "In a header, which is removed before the request is forwarded.",
        },
      ),
      queryParameter: named("In a query parameter", shortText("The parameter's name.")),
      cookie: named(
        "In a cookie",
        shortText("The cookie's name.", {
          pattern: TOKEN_PATTERN,
          form: "a cookie name",
        }),
      ),
      expression: expression(
        "CEL expression over the request. The parts that it reads stay in the request; remove them with `transformations`.",
      ),
    },
    {
      exactlyOneOf: ["header", "queryParameter", "cookie", "expression"],
      description: `Location of the credential; \`Authorization: ${defaults}\` by default, and \`Proxy-Authorization: ${defaults}\` on a route of a forward proxy.`,
    },
  );
}

/** Returns the default location of a credential. */
export function defaultLocation(scheme: "Bearer" | "Basic"): CredentialLocationConfig {
  return { header: "authorization", prefix: `${scheme} `, isDefault: true };
}

/**
 * Returns the location on a route of a forward proxy: by default, clients send their credential for the proxy in
 * Proxy-Authorization (RFC 9110 11.7.2), because Authorization is for the server behind it.
 */
export function proxyLocation(location: CredentialLocationConfig): CredentialLocationConfig {
  if (!("header" in location) || location.isDefault !== true) return location;
  return { header: "proxy-authorization", prefix: location.prefix };
}

/** Reads a `location`. */
export function lowerCredentialLocation(
  given: Infer<ReturnType<typeof credentialLocationSchema>> | undefined,
  scheme: "Bearer" | "Basic",
  origin: Origin,
): CredentialLocationConfig {
  if (given?.header !== undefined) {
    const { name, prefix = "" } = given.header;
    return { header: name.toLowerCase(), prefix: prefix === "" ? "" : `${prefix.trimEnd()} ` };
  }
  if (given?.queryParameter !== undefined) return { queryParameter: given.queryParameter.name };
  if (given?.cookie !== undefined) return { cookie: given.cookie.name };
  if (given?.expression !== undefined) {
    return { expression: { text: given.expression, origin: childOf(origin, "expression") } };
  }
  return defaultLocation(scheme);
}

/** Compiles the location's expression; returns `undefined` if it is invalid (reported). */
export function resolveCredentialLocation(
  location: CredentialLocationConfig,
  { diagnostics }: ResolveContext,
): CredentialLocationNode | undefined {
  if ("header" in location) return { header: location.header, prefix: location.prefix };
  if (!("expression" in location)) return location;
  const options = { phase: "request", slot: "value" } as const;
  const expression = resolveExpression(location.expression, options, diagnostics);
  const other = expression?.variables.find((variable) => variable !== "request");
  if (expression === undefined || other === undefined) return expression && { expression };
  diagnostics.report("credential-expression", location.expression.origin, { variable: other });
  return undefined;
}
