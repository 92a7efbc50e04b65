import type { Diagnostics } from "../../diagnostics/diagnostic.ts";
import type { BackendConnection } from "../../model/connections.ts";
import type { CompiledExpression, NamedExpression } from "../../model/expressions.ts";
import { forwardUrl, secureUrl } from "../../model/host-url.ts";
import type { SecretContext } from "../../model/literal-secrets.ts";
import type { ServerPolicies } from "../../model/server-policies.ts";
import type { Text } from "../../model/texts.ts";
import type {
  ClientCredentialsConfig,
  ClientCredentialsNode,
  ExchangeParameter,
  TokenEndpointConfig,
  TokenEndpointNode,
  TokenExchangeConfig,
  TokenExchangeNode,
  TokenSourceConfig,
  TokenSourceNode,
} from "../../model/token-exchange.ts";
import { resolveClient } from "./client-authentication.ts";
import { checkResult, type ExpressionConfig, resolveExpression } from "./expressions.ts";
import { addressedServer, isOwnCredential, type NamedServers } from "./named-server.ts";
import type { FileLookup } from "./tls-files.ts";

/** Services for resolving token endpoints; `connection` resolves the settings of a server. */
interface ExchangeContext extends FileLookup, SecretContext, NamedServers {
  readonly connection: (policies: ServerPolicies) => BackendConnection;
}

/** Resolves the token exchange; returns `undefined` if a mistake was reported. */
export function resolveTokenExchange(
  config: TokenExchangeConfig<ServerPolicies>,
  context: ExchangeContext,
): TokenExchangeNode<BackendConnection> | undefined {
  const { diagnostics } = context;
  const { host: _, hostOrigin: __, path: ___, policies: ____, ...own } = config;
  const { parameters: given, subject: from, actor: by, next, ...rest } = own;
  const first = resolveEndpoint(config, context);
  const second = next && resolveEndpoint(next, context);
  const subject = resolveSource(from, diagnostics);
  const source = by && resolveSource(by.source, diagnostics);
  const parameters = given.flatMap((each) => resolveParameter(each, diagnostics) ?? []);
  const isWhole =
    parameters.length === given.length && (source === undefined) === (by === undefined);
  if (first === undefined || subject === undefined || !isWhole) return undefined;
  if (next !== undefined && second === undefined) return undefined;
  return {
    ...rest,
    ...first,
    subject,
    actor: by && source && { ...by, source },
    parameters,
    next: next && second && { ...second, scopes: next.scopes },
  };
}

function resolveSource(
  source: TokenSourceConfig,
  diagnostics: Diagnostics,
): TokenSourceNode | undefined {
  if (!("expression" in source)) return source;
  const expression = resolveText(source.expression, diagnostics);
  return expression && { expression };
}

function resolveParameter(
  { name, ...expression }: NamedExpression,
  diagnostics: Diagnostics,
): ExchangeParameter | undefined {
  const compiled = resolveText(expression, diagnostics);
  if (compiled === undefined) return undefined;
  const { code } = compiled;
  const isConstant = code.kind === "value" && typeof code.value === "string";
  return { name, value: isConstant ? String(code.value) : compiled };
}

/** Compiles an expression for a string that is evaluated when the backend is called, before the body is read. */
function resolveText(
  expression: ExpressionConfig,
  diagnostics: Diagnostics,
): CompiledExpression | undefined {
  const options = { phase: "request", slot: "value" } as const;
  const compiled = resolveExpression(expression, options, diagnostics);
  if (compiled === undefined) return undefined;
  const wanted = { expected: "a string", isOfType: (type: string) => type === "string" };
  if (!checkResult(compiled, wanted, expression.origin, diagnostics)) return undefined;
  if (!compiled.reads.some(([root, member]) => root === "request" && member === "body"))
    return compiled;
  const params = {
    field: "the expression",
    expected: "without request.body, which is not read yet",
  };
  diagnostics.report("bad-format", expression.origin, params);
  return undefined;
}

function resolveEndpoint(
  { host, hostOrigin, path, policies: own, client }: TokenEndpointConfig<ServerPolicies>,
  context: ExchangeContext,
): TokenEndpointNode<BackendConnection> | undefined {
  const { diagnostics } = context;
  const user = "the token endpoint";
  const found = addressedServer(host, { origin: hostOrigin, user, policies: own }, context);
  const ownClient = client && resolveClient(client, context);
  if (found === undefined || !isOwnCredential(found.policies?.auth, user, diagnostics)) {
    // Its own settings are checked all the same.
    if (own !== undefined) context.connection(own);
    return undefined;
  }
  const server = forwardUrl(found.host, found.hostOrigin, diagnostics);
  if (server === undefined) return undefined;
  const connection = found.policies && context.connection(found.policies);
  return {
    url: below(connection === undefined ? server : secureUrl(server, connection), path),
    ...(connection && { connection }),
    client: ownClient,
  };
}

/** Appends a path to a server's URL. */
function below(server: Text, path: string): Text {
  if (typeof server === "string") return `${server.replace(/\/$/, "")}${path}`;
  return { ...server, parts: [...server.parts, path] };
}

/** Resolves `clientCredentials`; returns `undefined` if a mistake was reported. */
export function resolveClientCredentials(
  config: ClientCredentialsConfig<ServerPolicies>,
  context: ExchangeContext,
): ClientCredentialsNode<BackendConnection> | undefined {
  const { kind, audiences, scopes, resources, target, defaultLifetime } = config;
  const endpoint = resolveEndpoint(config, context);
  return endpoint && { ...endpoint, kind, audiences, scopes, resources, target, defaultLifetime };
}
