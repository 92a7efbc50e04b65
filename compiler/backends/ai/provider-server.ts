import type { Diagnostics } from "../../diagnostics/diagnostic.ts";
import { forwardUrl } from "../../model/host-url.ts";
import { reportRepeatedPath } from "../../model/repeated-path.ts";
import type { Text } from "../../model/texts.ts";
import type { ProviderConfig } from "./ai-config.ts";
import type { AiProviderNode } from "./ai-node.ts";
import { type ProviderKind, type ProviderOptions, providerOf } from "./providers/index.ts";
import type { LlmEndpoint } from "./providers/provider.ts";

type Endpoints = AiProviderNode["endpoints"];

/** The server of a provider, and its endpoints there. */
export interface ProviderServer extends Pick<AiProviderNode, "base" | "defaultPath" | "endpoints"> {
  readonly url: Text;
}

/** Returns where a provider is called; `undefined` if a mistake was reported. `own`: endpoints at its own server. */
export function resolveProviderServer(
  { name, options, optionsOrigin, server, port, prefix, path }: ProviderConfig,
  own: Endpoints,
  diagnostics: Diagnostics,
): ProviderServer | undefined {
  const from = basePathOf(options);
  const at = (url: Text, to: string, defaultPath?: string): ProviderServer => {
    const base = from === to ? undefined : { from, to };
    const endpoints = path === undefined ? moved(own, base) : withPath(own, path);
    return { url, base, endpoints, defaultPath };
  };
  if (server === undefined) {
    const url = ownUrl(options, port);
    if (url !== undefined) return at(url, prefix ?? from);
    diagnostics.report("provider-without-server", optionsOrigin, { name });
    return undefined;
  }
  const url = forwardUrl(server.address, server.origin, diagnostics);
  if (url === undefined) return undefined;
  if (!server.isBaseUrl) {
    const found = at(url, prefix ?? from);
    reportRepeatedPath(url, pathsOf(found.endpoints), server.origin, diagnostics);
    return found;
  }
  if (typeof url === "string") {
    const { origin: address, pathname } = new URL(url);
    return at(address, prefix ?? (pathname === "/" ? from : pathname));
  }
  // Only known at startup, when the gateway adds the default path to a URL without one.
  const fixed = Object.values(own).find(({ isFixed }) => isFixed);
  const whole = path ?? fixed?.path;
  if (whole === undefined) return at(url, "", prefix ?? from);
  diagnostics.report("late-base-url", server.origin, { path: whole });
  return undefined;
}

function ownUrl<Kind extends ProviderKind>(
  { kind, value }: ProviderOptions<Kind>,
  port: number | undefined,
): string | undefined {
  const url = providerOf<Kind>(kind).url(value);
  return url === undefined || port === undefined ? url : `${url}:${port}`;
}

function basePathOf<Kind extends ProviderKind>({ kind, value }: ProviderOptions<Kind>): string {
  return providerOf<Kind>(kind).basePath?.(value) ?? "";
}

/** Returns the paths of the endpoints, that of chats first. */
function pathsOf({ Completions, ...others }: Endpoints): readonly string[] {
  return [...(Completions ? [Completions] : []), ...Object.values(others)].map(({ path }) => path);
}

/** Moves endpoints to another base path. */
function moved(endpoints: Endpoints, base: ProviderServer["base"]): Endpoints {
  if (base === undefined) return endpoints;
  const { from, to } = base;
  return mapEndpoints(endpoints, (each) => {
    if (each.isFixed === true) return each;
    const { streamPath } = each;
    return {
      ...each,
      path: to + each.path.slice(from.length),
      ...(streamPath !== undefined && { streamPath: to + streamPath.slice(from.length) }),
    };
  });
}

/** Replaces the provider's paths by the configured one. */
function withPath(endpoints: Endpoints, path: string): Endpoints {
  return mapEndpoints(endpoints, ({ streamPath: _, ...each }) => ({ ...each, path }));
}

function mapEndpoints(
  endpoints: Endpoints,
  change: (endpoint: LlmEndpoint) => LlmEndpoint,
): Endpoints {
  return Object.fromEntries(
    Object.entries(endpoints).map(([type, { branches, ...endpoint }]) => [
      type,
      {
        ...change(endpoint),
        ...(branches && {
          branches: branches.map((branch) => ({ ...branch, ...change(branch) })),
        }),
      },
    ]),
  );
}
