import { type HealthSettings, ServerHealth } from "../../backends/server-health.ts";
import { HeaderNames } from "../../http/headers/header-lines.ts";
import { fieldLines } from "../../http/http1/fields.ts";
import { openUpstream } from "../../http/upstream/open-upstream.ts";
import type { Upstream, UpstreamSettings } from "../../http/upstream/upstream.ts";
import { ShownName } from "./shown-name.ts";

/** Complete settings of one provider of a route. */
export interface ProviderSettings extends UpstreamSettings {
  /** What the configuration calls it: for logs, metrics and the client. */
  readonly name: string;
  /** `gen_ai.provider.name` of the OpenTelemetry conventions: `anthropic`, `aws.bedrock`. */
  readonly system: string;
  /** The model that every request gets; absent: the one that the request names. */
  readonly model?: string;
  /** Headers that every request to it has: a flat list, names in lower case. */
  readonly headers?: readonly string[];
  /** The header in which the client's own key goes on to it; absent: the gateway has its own. */
  readonly clientKey?: KeyHeader;
  /** When it is left alone; absent: there is no other to ask. */
  readonly health?: HealthSettings;
}

/** The header in which a provider reads keys, or where that depends on the path. */
export type KeyHeader = KeyHeaderName | KeyHeaderByPath;

/** Where clients and providers of the formats have keys, and services that guard. */
export type KeyHeaderName =
  | "authorization"
  | "x-api-key"
  | "api-key"
  | "x-goog-api-key"
  | "ocp-apim-subscription-key";

/** A provider that has APIs of several makers. */
export interface KeyHeaderByPath {
  /** What paths of the first API begin with, behind the base path of another server. */
  readonly prefix: string;
  readonly header: KeyHeaderName;
  readonly otherwise: KeyHeaderName;
}

/** A server of models. */
export interface Provider {
  readonly name: string;
  /** The same, for clients. */
  readonly shown: ShownName;
  readonly system: string;
  readonly model: string | undefined;
  /** The headers of every request to it, Host among them: a flat list. */
  readonly headers: readonly string[];
  /** The same and `bodyHeaders` as lines; undefined: they can't be. */
  readonly headerLines: string | undefined;
  /** Headers of clients that do not go on to it: keys, which are meant for the gateway, and those that it has its own of. */
  readonly withheld: ReadonlySet<string>;
  /** Those, and what is said anew of a body that is read here. */
  readonly replaced: ReadonlySet<string>;
  /** The latter, to be found among lines. */
  readonly replacedLines: HeaderNames;
  /** The same and those that vendors made for their own APIs: what a provider does not get from clients of another format. */
  readonly foreignLines: HeaderNames;
  /** Headers of responses that the configuration gives: clients get them whoever made the body. */
  readonly given: ReadonlySet<string>;
  readonly clientKey: KeyHeader | undefined;
  readonly health: ServerHealth | undefined;
  readonly upstream: Upstream;
}

/** Where clients of any format have their keys: they are meant for the gateway. */
const CREDENTIALS = ["authorization", "api-key", "x-api-key", "x-goog-api-key", "cookie"];

/** What every request that is read here says anew: its body is another one. */
const OF_BODY = ["content-type", "content-encoding", "accept-encoding"];

/** What headers begin with that a vendor made for its own API. */
export const VENDOR_PREFIXES: readonly string[] = [
  ...[
    "anthropic-",
    "openai-",
    "x-goog-",
    "x-stainless-",
    "x-amz-",
    "x-amzn-",
    "x-bedrock-",
    "chatgpt-",
  ],
];

/** What is said of the body of every request that is read here, and what its response is read as: a flat list. */
export const BODY_HEADERS: readonly string[] = [
  ...["content-type", "application/json", "accept-encoding", "identity"],
];

/** Opens a provider. Nothing is connected before the first call. Throws StartupError on a malformed URL. */
export function openProvider(settings: ProviderSettings): Provider {
  const { name, system, model, headers = [], clientKey, health, ...server } = settings;
  const { set = [], add = [] } = server.responseHeaders ?? {};
  const changed = [...set, ...add];
  const withheld = new Set([...CREDENTIALS, ...headers.filter((_, index) => index % 2 === 0)]);
  const replaced = new Set([...withheld, ...OF_BODY]);
  const upstream = openUpstream(server);
  const own = [...headers, "host", upstream.authority];
  return {
    name,
    shown: new ShownName(name),
    system,
    model,
    headers: own,
    headerLines: fieldLines([...own, ...BODY_HEADERS]),
    withheld,
    replaced,
    replacedLines: new HeaderNames(replaced),
    foreignLines: new HeaderNames(replaced, VENDOR_PREFIXES),
    given: new Set(changed.map(([header]) => header).filter((header) => !OF_BODY.includes(header))),
    clientKey,
    health: health && new ServerHealth(health),
    upstream,
  };
}
