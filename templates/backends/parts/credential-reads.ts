import type { BackendConnection } from "../../../compiler/model/connections.ts";
import type { TokenExchangeNode } from "../../../compiler/model/token-exchange.ts";
import { isHole } from "../../code/hole.ts";

/** Returns the variables that credentials for the servers of a backend read from the exchange. */
export function credentialReads(backend: unknown): readonly string[] {
  if (typeof backend !== "object" || backend === null || isHole(backend)) return [];
  const own = "tokenExchange" in backend ? exchangeReads(backend.tokenExchange) : [];
  const inner = Object.entries(backend).flatMap(([name, each]) =>
    name === "origin" || name === "tokenExchange" ? [] : credentialReads(each),
  );
  return [...own, ...inner];
}

function exchangeReads(exchange: unknown): readonly string[] {
  if (!isExchange(exchange)) return [];
  const { subject, actor, parameters } = exchange;
  const sources = [subject, actor?.source].flatMap((source) =>
    source !== undefined && "expression" in source ? [source.expression] : [],
  );
  const values = parameters.flatMap(({ value }) => (typeof value === "string" ? [] : [value]));
  return [...sources, ...values].flatMap(({ variables }) => variables);
}

function isExchange(value: unknown): value is TokenExchangeNode<BackendConnection> {
  return (
    typeof value === "object" && value !== null && "kind" in value && value.kind === "tokenExchange"
  );
}
