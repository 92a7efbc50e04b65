import { type PolicyConfig, policyConfig, policyOfKind } from "../index.ts";

/**
 * Replaces token checks that also serve OAuth metadata (`jwtAuthentication.mcp`) by `mcpAuthentication` on a rule that
 * leads to MCP servers. Elsewhere they only check tokens.
 */
export function withOAuthMetadata(
  policies: readonly PolicyConfig[],
  isOfMcpServers: boolean,
): readonly PolicyConfig[] {
  const jwt = policyOfKind(policies, "jwtAuth");
  const [provider] = jwt?.config.providers ?? [];
  if (jwt?.config.mcp === undefined || provider === undefined || !isOfMcpServers) return policies;
  // Two checks of one token are reported.
  if (policyOfKind(policies, "mcpAuthentication") !== undefined) return policies;
  const { mode, location, mcp } = jwt.config;
  const replaced = policyConfig(
    "mcpAuthentication",
    { ...provider, mode, location, ...mcp, clientSecret: undefined, front: undefined },
    jwt.origin,
  );
  return [...policies.filter((each) => each !== jwt), replaced];
}
